"""Queue mode: push, pop, commit, readers, a full queue, asyncio."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import spanlog

TINY = {"segment_len_bytes": 4096, "capacity_segments": 4}


def test_records_are_popped_until_they_are_committed(root: Path) -> None:
    with spanlog.Queue(root) as queue:
        ends = [queue.push(b"tea"), queue.push_many([b"milk", bytearray(b"sugar")])]
        reader = queue.reader()
        first = reader.pop()
        assert first is not None and (first.body, first.number, first.end) == (b"tea", 0, ends[0])
        reader.commit(first)
        assert [bytes(record) for record in reader.pop_many()] == [b"milk", b"sugar"]
        assert reader.pop() is None and not reader.pop(timeout=0.05)
        stat = queue.stat()
        assert (stat.records, stat.readers[0].name) == (2, "default")
    with spanlog.Queue(root) as queue:
        reader = queue.reader()
        peeked = reader.peek()
        assert peeked is not None and peeked.body == b"milk" and reader.backlog()[0] == 2
        assert len(reader.pop_many(max_records=1)) == 1
        reader.rewind()
        assert len(reader.pop_many()) == 2
        reader.commit_to(ends[1])
        assert queue.stat().records == 0
        with pytest.raises(spanlog.InvalidError):
            reader.commit_to(ends[1] + 1)


def test_readers_have_places_of_their_own(root: Path) -> None:
    with spanlog.Queue(root) as queue:
        one, two = queue.reader("one"), queue.reader("two")
        queue.push(b"x")
        assert (one.name, one.pop() is not None, two.pop() is not None) == ("one", True, True)
        queue.remove_reader("two")
        with pytest.raises(spanlog.ClosedError):
            two.pop()
        for name in ("", "a b", "x" * 25):
            with pytest.raises(spanlog.InvalidError):
                queue.reader(name)


def test_a_full_queue_does_what_it_was_told(root: Path) -> None:
    with spanlog.Queue(root / "refuse", **TINY) as queue:
        queue.reader()
        with pytest.raises(spanlog.FullError):
            for _ in range(100):
                queue.push(bytes(1000))
        with pytest.raises(spanlog.TooLargeError):
            queue.push(bytes(1 << 20))
    with spanlog.Queue(root / "drop", **TINY, on_full="drop-oldest") as queue:
        reader = queue.reader()
        for _ in range(100):
            queue.push(bytes(1000))
        assert queue.stat().dropped > 0
        with pytest.raises(spanlog.GoneError):
            reader.pop()
        assert reader.pop() is not None
    with spanlog.Queue(root / "block", **TINY, on_full=0.01) as queue:
        queue.reader()
        with pytest.raises(spanlog.FullError):
            for _ in range(100):
                queue.push(bytes(1000))


@pytest.mark.parametrize(
    "options",
    [{"on_full": "wait"}, {"on_full": -1.0}, {"durability": "async"}, {"capacity_segments": 1}],
)
def test_options_out_of_range_make_no_queue(root: Path, options: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"on_full|durability|capacity"):
        spanlog.Queue(root, **options)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="unexpected"):
        spanlog.Queue(root, capacity=1)  # type: ignore[call-arg]


def test_damage_is_told_and_passed_over(root: Path) -> None:
    with spanlog.Queue(root) as queue:
        queue.push_many([b"the first", b"the second", b"the third"])
        found = queue.verify()
        assert (found.is_sound, found.records, found.payload_bytes) == (True, 3, 28)
    (file,) = (path for path in (root / "segments").iterdir() if b"the second" in path.read_bytes())
    file.write_bytes(file.read_bytes().replace(b"the second", b"THE second"))
    with spanlog.Queue(root) as queue:
        found = queue.verify()
        (damaged,) = found.damaged
        assert (found.is_sound, found.records, damaged.path) == (False, 2, str(file))
        reader = queue.reader()
        assert reader.skip_damaged() is None
        assert [record.body for record in reader.pop_many()] == [b"the first"]
        with pytest.raises(spanlog.CorruptError):
            reader.pop()
        assert reader.skip_damaged() == damaged.range
        assert [record.body for record in reader.pop_many()] == [b"the third"]


def test_a_record_outlives_its_queue(root: Path) -> None:
    queue = spanlog.Queue(root)
    queue.push(b"stays" * 100)
    record = queue.reader().pop()
    assert record is not None
    view = memoryview(record)
    queue.close()
    del queue, record
    gc.collect()
    assert bytes(view) == b"stays" * 100 and view.readonly


CALLS: dict[str, Callable[[spanlog.Queue], object]] = {
    "flush": lambda queue: queue.flush(),
    "push": lambda queue: queue.push(b""),
    "push_many": lambda queue: queue.push_many([b""]),
    "reader": lambda queue: queue.reader(),
    "remove_reader": lambda queue: queue.remove_reader("default"),
    "run": lambda queue: queue.run("flush"),
    "stat": lambda queue: queue.stat(),
    "verify": lambda queue: queue.verify(),
}
READER_CALLS: dict[str, Callable[[spanlog.QueueReader], object]] = {
    "backlog": lambda reader: reader.backlog(),
    "clear": lambda reader: reader.clear(),
    "commit_to": lambda reader: reader.commit_to(0),
    "fileno": lambda reader: reader.fileno(),
    "peek": lambda reader: reader.peek(),
    "pop": lambda reader: reader.pop(),
    "pop_many": lambda reader: reader.pop_many(),
    "rewind": lambda reader: reader.rewind(),
    "skip_damaged": lambda reader: reader.skip_damaged(),
}


def test_a_closed_queue_answers_every_call(root: Path) -> None:
    public = {name for name in dir(spanlog.Queue) if not name.startswith("_")}
    assert public - {"close", "closed", "root"} == set(CALLS)
    public = {name for name in dir(spanlog.QueueReader) if not name.startswith("_")}
    assert public - {"commit", "name"} == set(READER_CALLS)
    queue = spanlog.Queue(root)
    queue.push(b"x")
    reader = queue.reader()
    record = reader.peek()
    assert record is not None
    queue.close()
    queue.close()
    for call in CALLS.values():
        with pytest.raises(spanlog.ClosedError):
            call(queue)
    for read in (*READER_CALLS.values(), lambda reader: reader.commit(record)):
        with pytest.raises(spanlog.ClosedError):
            read(reader)
    assert queue.closed and "closed" in repr(queue) and queue.root == str(root)


def test_without_threads_the_caller_runs_the_steps(root: Path) -> None:
    with spanlog.Queue(root, segment_len_bytes=4096, background=False) as queue:
        queue.push(b"x" * 3000)
        assert queue.run("prepare") and queue.stat().segments == 2
        assert not queue.run("flush") and not queue.run("probe")
        with pytest.raises(ValueError, match="no task is called"):
            queue.run("sleep")  # type: ignore[arg-type]
    with spanlog.Queue(root) as queue, pytest.raises(spanlog.InvalidError):
        queue.run("flush")


def test_iterating_waits_until_the_queue_is_closed(root: Path) -> None:
    seen: list[bytes] = []
    with spanlog.Queue(root) as queue:
        reader = queue.reader()
        worker = threading.Thread(target=lambda: seen.extend(record.body for record in reader))
        worker.start()
        for number in range(50):
            queue.push(b"%d" % number)
        while len(seen) < 50:
            time.sleep(0.005)
    worker.join(30)
    assert not worker.is_alive() and seen == [b"%d" % number for number in range(50)]


def test_async_for_pops_records(root: Path) -> None:
    async def main() -> None:
        with spanlog.Queue(root) as queue:

            async def consume() -> list[bytes]:
                seen = []
                async for record in spanlog.aio.records(queue.reader()):
                    seen.append(record.body)
                    if len(seen) == 100:
                        break
                return seen

            consumer = asyncio.ensure_future(consume())
            for number in range(100):
                queue.push(b"%d" % number)
                if number % 10 == 0:
                    await asyncio.sleep(0.002)
            assert await asyncio.wait_for(consumer, 30) == [b"%d" % number for number in range(100)]
            waiting = asyncio.ensure_future(anext(spanlog.aio.records(queue.reader())))
            await asyncio.sleep(0.02)
        with pytest.raises(spanlog.ClosedError):
            await asyncio.wait_for(waiting, 30)

    asyncio.run(main())
