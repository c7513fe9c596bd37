"""Every call after the end of what it is called on."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import spanlog
from conftest import SMALL

# How each method is called; one that is missing here fails the test below.
CALLS: dict[str, Callable[[Any], Any]] = {
    "add_directory": lambda store: store.add_directory("d"),
    "append": lambda store: store.append("orders", b""),
    "append_many": lambda store: store.append_many("orders", [b""]),
    "bounds": lambda store: store.bounds("orders"),
    "catch_up": lambda store: store.catch_up(),
    "clean_now": lambda store: store.clean_now(),
    "copy_cursor": lambda store: store.copy_cursor("orders", "a", "b"),
    "cursor": lambda store: store.cursor("a", "orders"),
    "cursors": lambda store: store.cursors(),
    "delete_cursor": lambda store: store.delete_cursor("orders", "a"),
    "disks": lambda store: store.disks(),
    "dropped": lambda store: store.dropped(),
    "export_consumer_offsets": lambda store: store.export_consumer_offsets(),
    "find_by_id": lambda store: store.find_by_id("orders", "id"),
    "flush": lambda store: store.flush(),
    "get": lambda store: store.get(0),
    "import_consumer_offsets": lambda store: store.import_consumer_offsets(b"{}"),
    "inspect": lambda store: store.inspect(),
    "messages": lambda store: list(store.messages("orders")),
    "offset_at": lambda store: store.offset_at("orders", time_ms=0),
    "plan_clean": lambda store: store.plan_clean(),
    "query": lambda store: store.query("orders", "key"),
    "queues": lambda store: store.queues(),
    "read": lambda store: store.read("orders"),
    "recovery": lambda store: store.recovery(),
    "refresh": lambda store: store.refresh(),
    "remove_directory": lambda store: store.remove_directory("d"),
    "reset_cursor": lambda store: store.reset_cursor("orders", "a", "end"),
    "run": lambda store: store.run("clean"),
    "segments": lambda store: store.segments(),
    "set_role": lambda store: store.set_role("d", "draining"),
    "set_usage": lambda store: store.set_usage("d", used_bytes=1, available_bytes=1),
    "verify": lambda store: store.verify(),
    "wait": lambda store: store.wait("orders", timeout=0),
    "wait_appended": lambda store: store.wait_appended(0, timeout=0),
    "watch": lambda store: store.watch("orders"),
    "watermarks": lambda store: store.watermarks(),
    "__enter__": lambda store: store.__enter__(),
}
# What may be asked of a closed store.
ALWAYS = {"close", "closed", "root"}


def test_no_method_is_forgotten() -> None:
    public = {name for name in dir(spanlog.Store) if not name.startswith("_")}
    assert public - ALWAYS == set(CALLS) - {"__enter__"}


@pytest.mark.parametrize("name", CALLS)
def test_a_closed_store_answers_every_call(root: Path, name: str) -> None:
    store = spanlog.open(root, **SMALL)
    messages = store.messages("orders")
    store.close()
    store.close()
    with pytest.raises(spanlog.ClosedError) as caught:
        CALLS[name](store)
    assert caught.value.kind == "closed"
    with pytest.raises(spanlog.ClosedError):
        next(messages)
    assert store.closed and store.root == str(root) and "closed" in repr(store)


def test_leaving_the_block_closes_also_after_an_exception(root: Path) -> None:
    with pytest.raises(KeyError), spanlog.open(root, **SMALL) as store:
        store.append("orders", b"kept")
        raise KeyError
    assert store.closed
    with spanlog.open(root) as again:
        assert again.recovery().was_clean and again.read("orders").bodies() == [b"kept"]


def test_a_store_that_nobody_closed_closes_when_it_goes(root: Path) -> None:
    spanlog.open(root, **SMALL).append("orders", b"kept")
    with spanlog.open(root) as again:
        assert again.recovery().was_clean


def in_a_child(work: Callable[[], None]) -> int:
    """Forks, works in the child, and returns its exit code."""
    pid = os.fork()
    if pid == 0:
        code = 70
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    signal.alarm(30)
    try:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    finally:
        signal.alarm(0)


@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("name", CALLS)
def test_a_forked_child_leaves_the_parents_store_alone(root: Path, name: str) -> None:
    """A child that closed what it inherited wrote over its parent's files, or waited for threads
    that only the parent has."""
    with spanlog.open(root, **SMALL) as store:
        store.append("orders", b"parent's")

        def child() -> None:
            with pytest.raises(spanlog.ForkedError):
                CALLS[name](store)
            store.close()

        assert in_a_child(child) == 0
        store.append("orders", b"still")
        store.catch_up()
        assert store.read("orders").bodies() == [b"parent's", b"still"]
    with spanlog.open(root) as again:
        assert again.recovery().was_clean and len(again.read("orders")) == 2


def test_a_forked_child_may_end_as_it_likes(root: Path, python: Callable[..., Any]) -> None:
    program = """
import os, sys, warnings, spanlog
warnings.simplefilter("ignore", DeprecationWarning)
store = spanlog.open(sys.argv[1], segment_len_bytes=1 << 16)
store.append("orders", b"parent's")
pid = os.fork()
if pid == 0:
    with spanlog.open(sys.argv[1] + "-child", segment_len_bytes=1 << 16) as own:
        own.append("orders", b"child's")
    del store
    sys.exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
assert os.path.exists(sys.argv[1] + "/abort"), "the child took the parent's mark away"
store.append("orders", b"again")
store.close()
"""
    child = python(program, root)
    _, err = child.communicate(timeout=60)
    assert (child.returncode, err) == (0, "")
    with spanlog.open(root) as store:
        assert store.recovery().was_clean and len(store.read("orders")) == 2
    with spanlog.open(f"{root}-child") as own:
        assert own.recovery().was_clean and len(own.read("orders")) == 1
