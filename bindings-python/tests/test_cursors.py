"""Named consumers: delivery, acknowledgement, redelivery, iteration, asyncio."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import spanlog
from conftest import SMALL


def fill(store: spanlog.Store, count: int) -> None:
    for number in range(count):
        store.append("orders", b"%d" % number, queue=number % 3)
    store.catch_up()


def test_what_is_acknowledged_and_committed_does_not_come_again(root: Path) -> None:
    with spanlog.open(root, **SMALL) as store:
        fill(store, 9)
        with store.cursor("billing", "orders") as cursor:
            assert (cursor.name, cursor.topic) == ("billing", "orders")
            delivery = cursor.poll()
            assert len(delivery) == 9 and {message.attempt for message in delivery} == {1}
            assert (delivery.overtaken, delivery.failures) == ([], [])
            for message in delivery:
                if message.queue == 0:
                    cursor.ack(message)
            cursor.ack_up_to(1, 2)
            cursor.ack_at(2, 1)
            assert cursor.lag().messages == 3
    with spanlog.open(root) as store:
        (report,) = store.cursors()
        assert (report.topic, report.name, report.is_open) == ("orders", "billing", False)
        assert [queue.committed for queue in report.queues] == [3, 2, 0]
        with store.cursor("billing", "orders") as cursor:
            left = {(message.queue, message.queue_offset) for message in cursor.poll()}
            assert left == {(1, 2), (2, 0), (2, 2)}
            assert "billing" in repr(cursor)


def test_what_is_not_acknowledged_comes_again(store: spanlog.Store) -> None:
    fill(store, 1)
    with store.cursor("billing", "orders", visibility_ms=50) as cursor:
        (first,) = cursor.poll()
        assert cursor.next_due_ms is not None and not cursor.poll()
        (again,) = cursor.poll(timeout=30)
        assert (first.attempt, again.attempt, again.body) == (1, 2, first.body)
        cursor.ack(again)
        assert not cursor.poll(timeout=0.1)


def test_seeking_and_managing_cursors(store: spanlog.Store) -> None:
    fill(store, 9)
    cursor = store.cursor("a", "orders", from_end=True)
    assert not cursor.poll()
    cursor.seek("start")
    assert len(cursor.poll()) == 9
    cursor.seek(queue=1, offset=2)
    cursor.seek("end")
    cursor.seek(time_ms=0)
    assert len(cursor.poll(max_messages=2)) == 2
    for wrong in ({}, {"queue": 1}, {"to": "middle"}, {"to": "start", "time_ms": 1}):
        with pytest.raises(TypeError):
            cursor.seek(**wrong)
    with pytest.raises(spanlog.InvalidError):
        cursor.ack_at(0, 99)
    with pytest.raises(spanlog.LockedError):
        store.cursor("a", "orders")
    cursor.close()
    cursor.close()
    store.copy_cursor("orders", "a", "b")
    store.reset_cursor("orders", "b", "end")
    exported = "".join(store.export_consumer_offsets().split())
    assert '"orders@b":{0:3,1:3,2:3}' in exported
    store.delete_cursor("orders", "a")
    text = b'{"offsetTable":{"orders@c":{0:2}}}'
    assert store.import_consumer_offsets(text) == 1
    assert [report.name for report in store.cursors()] == ["b", "c"]


CALLS: dict[str, Callable[[spanlog.Cursor], object]] = {
    "ack_at": lambda cursor: cursor.ack_at(0, 0),
    "ack_up_to": lambda cursor: cursor.ack_up_to(0, 0),
    "commit": lambda cursor: cursor.commit(),
    "lag": lambda cursor: cursor.lag(),
    "name": lambda cursor: cursor.name,
    "next_due_ms": lambda cursor: cursor.next_due_ms,
    "poll": lambda cursor: cursor.poll(),
    "report": lambda cursor: cursor.report(),
    "seek": lambda cursor: cursor.seek("end"),
    "topic": lambda cursor: cursor.topic,
    "watch": lambda cursor: cursor.watch(),
}


def test_a_closed_cursor_answers_every_call(store: spanlog.Store) -> None:
    public = {name for name in dir(spanlog.Cursor) if not name.startswith("_")}
    assert public - {"close", "ack"} == set(CALLS)
    cursor = store.cursor("billing", "orders")
    fill(store, 1)
    (message,) = cursor.poll()
    cursor.close()
    other = store.cursor("other", "orders")
    store.close()
    for closed in (cursor, other):
        for call in (*CALLS.values(), lambda cursor: cursor.ack(message)):
            with pytest.raises(spanlog.ClosedError):
                call(closed)
        assert list(closed) == []
        closed.close()


@pytest.mark.parametrize("ending", ["store", "cursor"])
def test_iterating_waits_for_messages_until_the_end(store: spanlog.Store, ending: str) -> None:
    """Closing the cursor left its workers waiting for ever."""
    cursor = store.cursor("billing", "orders")
    seen: list[bytes] = []

    def work() -> None:
        for message in cursor:
            seen.append(message.body)
            cursor.ack(message)

    worker = threading.Thread(target=work)
    worker.start()
    for number in range(20):
        store.append("orders", b"%d" % number)
    while len(seen) < 20:
        time.sleep(0.005)
    (store if ending == "store" else cursor).close()
    worker.join(30)
    assert not worker.is_alive() and seen == [b"%d" % number for number in range(20)]


def test_an_overtaken_cursor_is_told_and_goes_on(root: Path) -> None:
    options = {**SMALL, "background": False, "retention_ms": 0, "delete_hours": "never"}
    with spanlog.open(root, **options) as store:
        cursor = store.cursor("slow", "orders")
        for number in range(40):
            store.append("orders", b"%d" % number * 4000)
        store.catch_up()
        store.clean_now()
        for _ in range(3):
            store.run("clean")
        bounds = store.bounds("orders")
        assert bounds is not None and bounds.min > 0
        with pytest.raises(spanlog.GoneError) as caught:
            next(cursor)
        assert caught.value.range == range(bounds.min) and caught.value.start == bounds.min
        assert next(cursor).queue_offset == bounds.min
        cursor.close()


def test_ctrl_c_ends_an_iteration(root: Path, python: Callable[..., subprocess.Popen[str]]) -> None:
    program = """
import sys, spanlog
with spanlog.open(sys.argv[1], segment_len_bytes=1 << 16) as store:
    print("waiting", flush=True)
    try:
        next(store.cursor("billing", "orders"))
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""
    child = python(program, root)
    assert child.stdout is not None and child.stdout.readline() == "waiting\n"
    time.sleep(0.1)
    child.send_signal(signal.SIGINT)
    assert child.communicate(timeout=30) == ("interrupted\n", "")


def test_async_deliveries_come_and_come_again(store: spanlog.Store) -> None:
    async def consume() -> list[tuple[bytes, int]]:
        seen = []
        with store.cursor("billing", "orders", visibility_ms=30) as cursor:
            async for delivery in spanlog.aio.deliveries(cursor):
                for message in delivery:
                    seen.append((message.body, message.attempt))
                    if message.body != b"retry" or message.attempt == 3:
                        cursor.ack(message)
                if len(seen) == 5:
                    return seen
        raise AssertionError

    async def main() -> None:
        consumer = asyncio.ensure_future(consume())
        for body in (b"a", b"retry", b"b"):
            await asyncio.sleep(0.01)
            store.append("orders", body)
        seen = await asyncio.wait_for(consumer, 30)
        assert sorted(seen) == [(b"a", 1), (b"b", 1), *((b"retry", n) for n in (1, 2, 3))]

    asyncio.run(main())
