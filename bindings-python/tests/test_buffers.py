"""Bodies lent without copying, and how long they live."""

from __future__ import annotations

import gc
import shutil
from pathlib import Path

import pytest

import spanlog
from conftest import SMALL


def one(store: spanlog.Store, body: bytes, copy: bool = False) -> spanlog.Message:
    offset = store.append("orders", body).queue_offset
    store.catch_up()
    return store.read("orders", 0, offset, copy=copy)[0]


def test_a_view_outlives_message_store_and_files(root: Path) -> None:
    """A view that was used after the store was closed read memory that was given back."""
    store = spanlog.open(root, **SMALL)
    view = memoryview(one(store, b"stays" * 100))
    store.close()
    del store
    gc.collect()
    shutil.rmtree(root)
    assert bytes(view) == b"stays" * 100
    assert bytes(view[5:10]) == b"stays"


@pytest.mark.parametrize("copy", [False, True])
def test_a_view_is_the_body_and_cannot_be_written(store: spanlog.Store, copy: bool) -> None:
    message = one(store, b"body", copy)
    view = memoryview(message)
    assert (view.readonly, view.nbytes, view.format, view.ndim) == (True, 4, "B", 1)
    assert view.obj is message and bytes(message) == b"body" and len(message) == 4
    with pytest.raises(TypeError):
        view[0] = 1
    assert one(store, b"").body == b"" == bytes(memoryview(one(store, b"")))


def test_a_copy_keeps_no_segment(root: Path) -> None:
    """What keeps a segment's file mapped is what somebody holds, and nothing else."""
    with spanlog.open(root, **SMALL) as store:
        for _ in range(20):
            store.append("orders", b"x" * 10_000)
        store.catch_up()
        copied = store.read("orders", copy=True)[0]
        assert not store.segments()[0].held
        lent = store.read("orders")[0]
        assert store.segments()[0].held and copied.body == lent.body
        del lent
        assert not store.segments()[0].held


def test_messages_outlive_their_batch_and_keep_their_segment(store: spanlog.Store) -> None:
    store.append_many("orders", [b"%d" % number for number in range(300)])
    store.catch_up()
    kept = [
        message
        for message in store.read("orders", max_messages=300)
        if message.queue_offset % 100 == 0
    ]
    gc.collect()
    assert [bytes(message) for message in kept] == [b"0", b"100", b"200"]


def test_the_same_message_can_be_lent_often(store: spanlog.Store) -> None:
    message = one(store, b"body")
    views = [memoryview(message) for _ in range(100)]
    again = store.read("orders")[0]
    assert {bytes(view) for view in views} == {b"body"} == {bytes(memoryview(again))}


def test_what_was_handed_in_may_change_afterwards(store: spanlog.Store) -> None:
    body = bytearray(b"before")
    store.append("orders", body)
    body[:] = b"after!"
    store.append_many("orders", [body])
    body[:] = b"never!"
    body.append(0)
    store.catch_up()
    assert store.read("orders").bodies() == [b"before", b"after!"]
