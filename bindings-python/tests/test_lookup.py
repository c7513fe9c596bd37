"""Finding messages by tag, key, id and time; and verification."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

import spanlog
from conftest import SMALL


def test_reading_by_tags(store: spanlog.Store) -> None:
    for number in range(300):
        store.append("orders", b"%d" % number, tags="abc"[number % 3])
    store.catch_up()
    batch = store.read("orders", tags="a || b", max_messages=4)
    assert [message.tags for message in batch] == ["a", "b", "a", "b"]
    assert batch.next == 5
    bodies = [int(message.body) for message in store.messages("orders", tags="c")]
    assert bodies == list(range(2, 300, 3))
    assert store.read("orders", tags="none").status == "no_match"
    assert list(store.messages("orders", tags="none")) == []
    assert len(list(store.messages("orders", tags="*"))) == 300


def test_keys_ids_and_times(store: spanlog.Store) -> None:
    for number in range(10):
        store.append("orders", b"%d" % number, keys=[f"k{number % 2}", "all"], tags="t", queue=1)
    store.catch_up()
    before = store.read("orders", 1)[0].store_ms
    odd = [b"9", b"7", b"5", b"3", b"1"]
    assert [message.body for message in store.query("orders", "k1")] == odd
    assert len(store.query("orders", "all", max_messages=3)) == 3
    assert len(store.query("orders", "all", from_ms=before)) == 10
    assert store.query("orders", "all", to_ms=before - 1).status == "no_match"
    assert len(store.query("orders", "t", kind="tag")) == 10
    last = store.read("orders", 1, 9)[0]
    assert last.unique_id is not None
    (found,) = store.find_by_id("orders", last.unique_id)
    assert (found.body, found.queue_offset) == (b"9", 9)
    assert store.offset_at("orders", 1, time_ms=before) == 0
    assert store.offset_at("orders", 1, time_ms=last.store_ms, boundary="upper") == 9
    for wrong in ({"kind": "body"}, {"max_messages": 0}):
        with pytest.raises(ValueError, match=r"kind|max_messages"):
            store.query("orders", "k", **wrong)
    with pytest.raises(ValueError, match="boundary"):
        store.offset_at("orders", time_ms=0, boundary="middle")  # type: ignore[arg-type]


def test_a_sound_store_is_verified_with_progress(root: Path) -> None:
    steps: list[tuple[str, int, int]] = []
    with spanlog.open(root, **SMALL) as store:
        for _ in range(50):
            store.append("orders", b"x" * 5000)
        store.catch_up()
        report = store.verify(progress=lambda *step: steps.append(step))
        assert (report.is_sound, report.records, report.findings) == (True, 50, [])
        assert not report.was_closed
    assert {part for part, _, _ in steps} >= {"queues", "marks"}
    assert all(0 <= done <= total for _, done, total in steps)
    report = spanlog.verify(root)
    assert (report.is_sound, report.records, report.was_closed) == (True, 50, True)


def test_damage_is_found_where_it_is(root: Path) -> None:
    with spanlog.open(root, **SMALL) as store:
        store.append_many("orders", [b"first", b"second", b"third"])
    segment = root / "commitlog" / "00000000000000000000"
    segment.write_bytes(segment.read_bytes().replace(b"second", b"sec0nd"))
    report = spanlog.verify(root)
    assert not report.is_sound
    (finding,) = [finding for finding in report.findings if finding.kind == "record"]
    assert finding.is_damage and finding.path == str(segment)
    assert finding.range is not None and len(finding.range) == finding.len_bytes > 0
    with pytest.raises(spanlog.InvalidError):
        spanlog.verify(root / "nowhere")


def test_damage_is_padded_over_once_that_is_asked_for(root: Path) -> None:
    with spanlog.open(root, **SMALL) as store:
        store.append_many("orders", [b"first", b"second", b"third"])
    segment = root / "commitlog" / "00000000000000000000"
    damaged = segment.read_bytes().replace(b"second", b"sec0nd")
    segment.write_bytes(damaged)
    steps: list[tuple[str, int, int]] = []
    plan = spanlog.plan_repair(root, progress=lambda *step: steps.append(step))
    assert steps and not plan.verification.is_sound and plan.beyond == []
    assert [action.action for action in plan.actions] == ["pad", "rebuild_queues"]
    pad = plan.actions[0]
    assert pad.path == str(segment) and pad.range is not None and pad.text.startswith("save ")
    assert segment.read_bytes() == damaged, "planning changes nothing"
    repaired = plan.apply()
    (saved,) = repaired.saved
    assert b"sec0nd" in Path(saved).read_bytes() and repaired.recovery.records == 3
    with pytest.raises(spanlog.InvalidError):
        plan.apply()
    assert spanlog.verify(root).is_sound and spanlog.plan_repair(root).actions == []
    with spanlog.open(root, **SMALL) as store:
        bodies = store.read("orders").bodies()
        assert b"first" in bodies and b"third" in bodies and b"sec0nd" not in bodies
        with pytest.raises(spanlog.SpanlogError):
            spanlog.plan_repair(root / "nowhere")


def test_what_progress_raises_ends_a_verification(store: spanlog.Store) -> None:
    store.append("orders", b"x")

    def stop(part: str, done: int, total: int) -> None:
        raise RuntimeError(part)

    with pytest.raises(RuntimeError, match="queues"):
        store.verify(progress=stop)
    with pytest.raises(KeyboardInterrupt):
        store.verify(progress=lambda *_: signal.raise_signal(signal.SIGINT))
    assert store.verify().is_sound
