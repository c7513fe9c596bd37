"""Appending, reading, reports: what a store does, seen from Python."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import spanlog
from conftest import SMALL


def bodies(store: spanlog.Store, topic: str, queue: int = 0) -> list[bytes]:
    store.catch_up()
    return [message.body for message in store.messages(topic, queue)]


def test_a_message_comes_back_with_all_that_was_said_of_it(store: spanlog.Store) -> None:
    receipt = store.append(
        "orders",
        b"tea",
        queue=3,
        tags="drink",
        keys=["k1", "k2"],
        properties={"region": "n\u00f6rd"},
    )
    store.catch_up()
    (message,) = store.read("orders", 3)
    assert (message.body, message.topic, message.queue) == (b"tea", "orders", 3)
    assert (message.tags, message.keys) == ("drink", ["k1", "k2"])
    assert message.properties["region"] == "n\u00f6rd"
    assert (
        (message.queue_offset, message.position)
        == (0, 0)
        == (receipt.queue_offset, receipt.position)
    )
    assert (message.store_ms, message.size) == (receipt.store_ms, receipt.end)
    assert message.unique_id == message.properties["UNIQ_KEY"]
    assert store.get(receipt.position).record == message.record


def test_a_draft_says_what_a_body_cannot(store: spanlog.Store) -> None:
    draft = spanlog.Draft(
        bytearray(b"old"),
        tags="t",
        keys=("a",),
        properties={"x": "y"},
        flag=-7,
        sys_flag=1,
        born_ms=1_700_000_000_123,
        born_host="[::1]:80",
        reconsume_times=2,
        prepared_position=5,
    )
    store.append("orders", draft)
    store.append_many("orders", [b"plain", draft], tags="all")
    store.catch_up()
    first, plain, last = store.read("orders")
    for message in (first, last):
        assert (message.body, message.flag, message.tags, message.keys) == (b"old", -7, "t", ["a"])
        assert (message.born_ms, message.born_host) == (1_700_000_000_123, "[::1]:80")
        assert (message.reconsume_times, message.prepared_position) == (2, 5)
        assert message.sys_flag & 1 and message.properties["x"] == "y"
    assert (plain.body, plain.tags, plain.flag) == (b"plain", "all", 0)


@pytest.mark.parametrize("body", [b"", b"x", bytearray(b"ab"), memoryview(b"abc"), b"y" * 200_000])
def test_any_buffer_is_a_body(root: Path, body: bytes) -> None:
    with spanlog.open(root, segment_len_bytes=1 << 20) as store:
        store.append("orders", body)
        store.append_many("orders", iter([body, body]))
        assert bodies(store, "orders") == [bytes(body)] * 3


def test_many_are_appended_side_by_side_or_not_at_all(store: spanlog.Store) -> None:
    receipt = store.append_many("orders", [b"%d" % number for number in range(100)], queue=1)
    assert receipt.queue_offset == 0
    after = store.append("orders", b"after", queue=1)
    assert (after.queue_offset, after.position) == (100, receipt.end)
    with pytest.raises(spanlog.TooLargeError):
        store.append_many("orders", [b"fits", b"x" * (1 << 17)], queue=1)
    with pytest.raises(TypeError):
        store.append_many("orders", [b"fits", "text"], queue=1)  # type: ignore[list-item]
    assert len(bodies(store, "orders", 1)) == 101


def test_durable_appends_are_flushed_when_they_return(root: Path) -> None:
    with spanlog.open(root, **SMALL, flush_interval_ms=86_400_000) as store:
        one = store.append("orders", b"a", durable=True)
        assert store.watermarks().flushed >= one.end
        many = store.append_many("orders", [b"b", b"c"], durable=True)
        assert store.watermarks().flushed >= many.end
    with spanlog.open(root, durability="group") as store:
        grouped = store.append("orders", b"d")
        assert store.watermarks().flushed >= grouped.end


def test_reading_goes_on_where_the_batch_says(store: spanlog.Store) -> None:
    assert store.read("orders").status == "no_queue"
    store.append_many("orders", [b"%d" % number for number in range(10)])
    store.catch_up()
    first = store.read("orders", max_messages=4)
    assert (first.status, len(first), first.next, first.bounds) == ("found", 4, 4, (0, 10))
    rest = store.read("orders", 0, first.next)
    assert first.bodies() + rest.bodies() == [b"%d" % number for number in range(10)]
    assert store.read("orders", 0, 10).status == "at_end"
    assert (store.read("orders", 0, 99).status, store.read("orders", 0, 99).next) == (
        "too_large",
        10,
    )
    assert len(store.read("orders", max_bytes=1)) == 1, "one message is returned whatever its size"
    assert (first[0].body, first[-1].body) == (b"0", b"3")
    for index in (4, -5, 2**62):
        with pytest.raises(IndexError):
            first[index]


def test_an_iterator_goes_on_with_what_was_appended_since(store: spanlog.Store) -> None:
    messages = store.messages("orders", offset=1)
    assert list(messages) == []
    store.append_many("orders", [b"a", b"b", b"c"])
    store.catch_up()
    assert [message.body for message in messages] == [b"b", b"c"]
    store.append("orders", b"d")
    store.catch_up()
    assert [message.queue_offset for message in messages] == [3]


def test_an_iterator_passes_over_what_retention_dropped(root: Path) -> None:
    options = {**SMALL, "background": False, "retention_ms": 0, "delete_hours": "never"}
    with spanlog.open(root, **options) as store:
        for number in range(40):
            store.append("orders", b"%d" % number * 4000)
        store.catch_up()
        store.clean_now()
        while store.watermarks().start == 0:
            store.run("clean")
        bounds = store.bounds("orders")
        assert bounds is not None and 0 < bounds.min < 40
        assert [m.queue_offset for m in store.messages("orders")] == list(range(bounds.min, 40))
        dropped = store.dropped()
        assert dropped[0].base == 0 and "expired" in dropped[0].reason
        with pytest.raises(spanlog.GoneError) as caught:
            store.get(0)
        assert caught.value.start == store.watermarks().start


def test_reports_tell_what_there_is(tmp_path: Path, root: Path) -> None:
    own = spanlog.Thresholds(refuse=0.88, force=0.8)
    paths = [tmp_path / "a", spanlog.Directory(tmp_path / "b", thresholds=own)]
    for path in ("a", "b", "c"):
        (tmp_path / path).mkdir()
    with spanlog.open(root, paths=paths, **SMALL, placement="hash") as store:
        store.append("orders", b"x", queue=2)
        store.catch_up()
        report = store.inspect()
        assert report.segment_len_bytes == 1 << 16 and report.refused is None
        assert (
            report.queues
            == store.queues()
            == [spanlog.QueueReport("orders", 2, spanlog.Bounds(0, 1))]
        )
        assert report.watermarks == store.watermarks()
        first, second = store.disks()
        assert (first.path, second.path) == (str(tmp_path / "a"), str(tmp_path / "b"))
        assert (first.thresholds, second.thresholds) == (spanlog.Thresholds(), own)
        assert first.used_ratio is not None and 0.0 <= first.used_ratio <= 1.0
        assert not math.isnan(first.used_ratio) and first.available_bytes
        (segment,) = store.segments()
        assert (segment.base, segment.len_bytes, segment.dropped) == (0, 1 << 16, False)
        plan = store.plan_clean()
        assert (plan.drop, plan.start, plan.fates[0].reason) == (0, None, "kept_last")
        store.add_directory(spanlog.Directory(tmp_path / "c", role="draining"))
        assert [disk.role for disk in store.disks()] == ["read-write", "read-write", "draining"]
        store.set_role(tmp_path / "c", "read-write")
        store.remove_directory(tmp_path / "c")
        assert len(store.disks()) == 2
    with spanlog.open(root) as store:
        assert store.recovery().was_clean and store.recovery().torn_tail is None
    spanlog.destroy(root)
    assert not (tmp_path / "a").exists() and not root.exists()


def test_offsets_are_whole_numbers_of_64_bits(store: spanlog.Store) -> None:
    assert store.read("orders", 0, 2**63 + 1).status == "no_queue"
    for offset in (-1, 2**64):
        with pytest.raises(OverflowError):
            store.read("orders", 0, offset)


def test_a_store_says_what_it_is(store: spanlog.Store, root: Path) -> None:
    assert (store.root, store.closed) == (str(root), False)
    assert repr(store) == f"<spanlog.Store {root} open>"
    receipt = store.append("orders", b"abc")
    store.catch_up()
    batch = store.read("orders")
    assert repr(batch) == "<spanlog.Batch found messages=1 next=1>"
    assert "orders/0 queue_offset=0" in repr(batch[0]) and "queue_offset=0" in repr(receipt)
    assert receipt != store.append("orders", b"abc") and len({receipt, receipt}) == 1
    assert repr(spanlog.Draft(b"ab")) == "<spanlog.Draft body=2 bytes>"
