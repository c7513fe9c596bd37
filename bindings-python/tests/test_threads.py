"""Threads, signals and kills."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import spanlog


def test_threads_append_and_read_one_store(store: spanlog.Store) -> None:
    def work(queue: int) -> None:
        for number in range(300):
            store.append("orders", b"%d" % number, queue=queue)
            if number % 50 == 0:
                store.read("orders", queue)

    threads = [threading.Thread(target=work, args=(queue,)) for queue in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store.catch_up()
    for queue in range(4):
        assert [int(message.body) for message in store.messages("orders", queue)] == list(
            range(300)
        )


def test_one_iterator_serves_several_threads(store: spanlog.Store) -> None:
    store.append_many("orders", [b"%d" % number for number in range(400)])
    store.catch_up()
    messages, seen = store.messages("orders"), []
    threads = [threading.Thread(target=lambda: seen.extend(messages)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    offsets = {message.queue_offset for message in seen}
    assert offsets == set(range(400)), "none was left out"


@pytest.mark.parametrize("call", ["append_many", "read", "append"])
def test_others_run_while_a_call_works(root: Path, call: str) -> None:
    """A call that held the interpreter lock stopped the whole program for as long as it took."""
    count, stop = 0, False

    def tick() -> None:
        nonlocal count
        while not stop:
            count += 1

    with spanlog.open(root, segment_len_bytes=1 << 28, max_body_bytes=1 << 27) as store:
        bodies = [b"x" * 16] * 200_000
        store.append_many("orders", bodies)
        store.catch_up()
        ticker = threading.Thread(target=tick)
        ticker.start()
        calls: dict[str, Callable[[], object]] = {
            "append_many": lambda: store.append_many("orders", bodies),
            "read": lambda: store.read("orders", max_messages=200_000, max_bytes=1 << 30),
            "append": lambda: store.append("orders", bytes(1 << 25)),
        }
        progress = 0
        for _ in range(5):
            # Python code between the two looks gives the ticker no turn: it is far too short.
            before = count
            calls[call]()
            progress = max(progress, count - before)
        stop = True
        ticker.join()
    assert progress > 100


def test_what_a_killed_process_appended_is_there(
    root: Path, python: Callable[..., subprocess.Popen[str]]
) -> None:
    program = """
import sys, spanlog
store = spanlog.open(sys.argv[1], segment_len_bytes=1 << 16, queue_file_len_bytes=2000)
for number in range(1_000_000):
    store.append("orders", b"%d" % number)
    if number % 100 == 0:
        print(number, flush=True)
"""
    child = python(program, root)
    assert child.stdout is not None
    acknowledged = [int(child.stdout.readline()) for _ in range(5)][-1]
    os.kill(child.pid, signal.SIGKILL)
    child.communicate(timeout=30)
    assert child.returncode == -signal.SIGKILL
    with spanlog.open(root) as store:
        assert not store.recovery().was_clean
        numbers = [int(message.body) for message in store.messages("orders")]
    assert numbers == list(range(len(numbers))) and len(numbers) > acknowledged
