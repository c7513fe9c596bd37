"""References and memory: a loop that leaked would grow without end."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

import pytest

import spanlog
from conftest import SMALL

PAGE_KIB = 4


def resident_kib() -> int:
    """Anonymous memory of this process: pages of files do not count."""
    fields = Path("/proc/self/statm").read_text().split()
    return (int(fields[1]) - int(fields[2])) * PAGE_KIB


def growth_kib(work, rounds: int) -> int:
    """How much memory so many rounds leave behind, after as many to warm up."""
    for _ in range(rounds):
        work()
    gc.collect()
    before = resident_kib()
    for _ in range(rounds):
        work()
    gc.collect()
    return resident_kib() - before


def test_arguments_keep_their_reference_counts(store: spanlog.Store) -> None:
    body, tags, key, value = b"body" * 30, "tags-of-mine", "key-of-mine", "value-of-mine"
    draft = spanlog.Draft(body, tags=tags, keys=[key], properties={key: value})
    counted = (body, tags, key, value, draft)
    before = [sys.getrefcount(thing) for thing in counted]
    for _ in range(200):
        store.append("orders", body, tags=tags, keys=[key], properties={key: value})
        store.append("orders", draft)
        store.append_many("orders", [body, draft], tags=tags)
        with pytest.raises(spanlog.InvalidError):
            store.append("not a topic", body, tags=tags, keys=[key], properties={key: value})
        with pytest.raises(TypeError):
            store.append_many("orders", [body, draft, 1], tags=tags)
    assert [sys.getrefcount(thing) for thing in counted] == before


def test_messages_and_views_go_when_nobody_holds_them(store: spanlog.Store) -> None:
    store.append_many("orders", [b"x" * 50] * 256)
    store.catch_up()

    def work() -> None:
        batch = store.read("orders")
        views = [memoryview(message) for message in batch]
        assert len(batch.bodies()) == len(views) == 256
        [(message.topic, message.tags, message.keys, message.properties) for message in batch]
        list(store.read("orders", copy=True))
        list(store.messages("orders"))

    assert growth_kib(work, 200) < 1024


def test_errors_go_when_nobody_holds_them(store: spanlog.Store) -> None:
    def work() -> None:
        for call in (lambda: store.get(1), lambda: store.append("no topic", b"")):
            with pytest.raises(spanlog.SpanlogError):
                call()

    assert growth_kib(work, 3000) < 1024


def test_stores_go_when_they_are_closed(root: Path) -> None:
    def work() -> None:
        with spanlog.open(root, **SMALL) as store:
            store.append("orders", b"x")
            store.inspect()

    assert growth_kib(work, 150) < 2048
