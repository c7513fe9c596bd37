"""Waiting for messages: with a deadline, with Ctrl-C, beside an event loop."""

from __future__ import annotations

import asyncio
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import spanlog
from conftest import SMALL


def later(work: Callable[[], object]) -> threading.Timer:
    timer = threading.Timer(0.05, work)
    timer.start()
    return timer


def test_a_wait_ends_with_the_message_or_the_deadline(store: spanlog.Store) -> None:
    assert not store.wait("orders", timeout=0)
    assert not store.wait("orders", timeout=0.15)
    timer = later(lambda: store.append("orders", b"x", queue=2))
    assert store.wait("orders", 2, timeout=30)
    assert store.wait("orders", 2) and not store.wait("orders", 2, 1, timeout=0)
    timer.join()
    timer = later(lambda: store.append("other", b"y"))
    assert store.wait_appended(store.watermarks().appended, timeout=30)
    timer.join()
    for timeout in (-1, float("nan")):
        with pytest.raises(ValueError, match="seconds"):
            store.wait("orders", timeout=timeout)


@pytest.mark.parametrize("timeout", [None, 1e300, float("inf")])
def test_closing_ends_every_wait(root: Path, timeout: float | None) -> None:
    store = spanlog.open(root, **SMALL)
    watch = store.watch()
    later(store.close)
    with pytest.raises(spanlog.ClosedError):
        store.wait("orders", timeout=timeout)
    with pytest.raises(spanlog.ClosedError):
        watch.wait(timeout=timeout)


def test_others_run_while_one_waits(store: spanlog.Store) -> None:
    """A wait that held the interpreter lock kept the append from happening that it waited for."""
    outcomes: list[bool] = []
    waiters = [
        threading.Thread(target=lambda: outcomes.append(store.wait("orders", timeout=30)))
        for _ in range(4)
    ]
    for waiter in waiters:
        waiter.start()
    store.append("orders", b"x")
    for waiter in waiters:
        waiter.join()
    assert outcomes == [True] * 4


def test_a_watch_is_readable_until_it_is_cleared(store: spanlog.Store) -> None:
    def readable(watch: spanlog.Watch) -> bool:
        return bool(select.select([watch], [], [], 0)[0])

    queue, topic, tail = store.watch("orders", 1), store.watch("orders"), store.watch()
    assert not any(map(readable, (queue, topic, tail)))
    store.append("orders", b"x", queue=7)
    store.catch_up()
    assert (readable(queue), readable(topic), readable(tail)) == (False, True, True)
    assert topic.wait(timeout=0) and not queue.wait(timeout=0)
    topic.clear()
    assert not readable(topic) and not topic.wait(timeout=0.01)
    with pytest.raises(ValueError, match="topic"):
        store.watch(None, 1)  # type: ignore[call-overload]


WAITS = {
    "wait": 'store.wait("orders")',
    "wait_appended": "store.wait_appended(0)",
    "watch": 'store.watch("orders").wait()',
    "long deadline": 'store.wait("orders", timeout=3600)',
}


@pytest.mark.parametrize("name", WAITS)
def test_ctrl_c_ends_a_wait(
    root: Path, python: Callable[..., subprocess.Popen[str]], name: str
) -> None:
    program = f"""
import sys, spanlog
with spanlog.open(sys.argv[1], segment_len_bytes=1 << 16) as store:
    print("waiting", flush=True)
    try:
        {WAITS[name]}
    except KeyboardInterrupt:
        print("interrupted", store.append("orders", b"still open").queue_offset, flush=True)
"""
    child = python(program, root)
    assert child.stdout is not None and child.stdout.readline() == "waiting\n"
    time.sleep(0.1)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=30)
    assert (out, err, child.returncode) == ("interrupted 0\n", "", 0)
    with spanlog.open(root) as store:
        assert store.recovery().was_clean


def test_async_for_follows_a_queue(store: spanlog.Store) -> None:
    async def consume(count: int) -> list[bytes]:
        bodies = []
        async for message in spanlog.aio.messages(store, "orders", 3):
            bodies.append(message.body)
            if len(bodies) == count:
                break
        return bodies

    async def produce(count: int) -> None:
        for number in range(count):
            store.append("orders", b"%d" % number, queue=3)
            if number % 10 == 0:
                await asyncio.sleep(0.002)

    async def main() -> None:
        tasks = [consume(200), consume(200), produce(200)]
        first, second, _ = await asyncio.wait_for(asyncio.gather(*tasks), 60)
        assert first == second == [b"%d" % number for number in range(200)]

    asyncio.run(main())


def test_async_waits_are_cancelled_and_closed(root: Path) -> None:
    async def main() -> None:
        with spanlog.open(root, **SMALL) as store:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(anext(spanlog.aio.messages(store, "orders")), 0.05)
            waiting = asyncio.ensure_future(anext(spanlog.aio.messages(store, "orders")))
            await asyncio.sleep(0.02)
        with pytest.raises(spanlog.ClosedError):
            await asyncio.wait_for(waiting, 30)

    asyncio.run(main())
