"""Exceptions: class, fields, and that nothing is stored when one is raised."""

from __future__ import annotations

import errno
import os
import pickle
from pathlib import Path
from typing import Any

import pytest

import spanlog
from conftest import SMALL


def test_every_kind_has_a_class_with_its_name() -> None:
    kinds = {cls.kind for cls in spanlog.errors.CLASSES.values()}
    assert kinds == {
        "invalid",
        "too_large",
        "full",
        "gone",
        "offline",
        "foreign",
        "locked",
        "version",
        "corrupt",
        "io",
        "poisoned",
        "closed",
    }
    for cls in spanlog.errors.CLASSES.values():
        assert issubclass(cls, spanlog.SpanlogError) and getattr(spanlog, cls.__name__) is cls


def test_an_error_names_path_offset_limit_and_range(store: spanlog.Store, root: Path) -> None:
    with pytest.raises(spanlog.TooLargeError) as large:
        store.append("orders", b"x" * (5 << 20))
    assert large.value.kind == "too_large" and large.value.limit is not None
    with pytest.raises(spanlog.InvalidError) as topic:
        store.append("not a topic", b"")
    assert topic.value.offset == 3 and isinstance(topic.value, ValueError)
    assert str(topic.value).startswith("invalid: ") and not topic.value.message.startswith(
        "invalid"
    )
    with pytest.raises(spanlog.LockedError) as locked:
        spanlog.open(root)
    assert locked.value.path == str(root / "lock")
    assert store.inspect().watermarks.appended == 0


def test_a_refusal_of_the_system_is_an_os_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OSError, match="cannot make a directory") as caught:
        spanlog.open(tmp_path / "file" / "store")
    error = caught.value
    assert isinstance(error, spanlog.StorageError) and error.kind == "io"
    assert (
        error.errno == errno.EEXIST
        and error.filename == error.path
        and str(error).startswith("io: ")
    )


def test_damage_is_raised_by_the_message_that_has_it(root: Path) -> None:
    with spanlog.open(root, **SMALL) as store:
        store.append_many("orders", [b"first", b"second", b"third"])
    segment = root / "commitlog" / "00000000000000000000"
    content = segment.read_bytes()
    segment.write_bytes(content.replace(b"second", b"sec0nd"))
    with spanlog.open(root) as store:
        batch = store.read("orders")
        assert (len(batch), batch[0].body, batch[2].body) == (3, b"first", b"third")
        for take in (lambda: batch[1], lambda: list(batch), batch.bodies):
            with pytest.raises(spanlog.CorruptError) as caught:
                take()
            assert (
                caught.value.path == str(segment)
                and caught.value.offset == content.find(b"second") - 88
            )
        assert store.read("orders", verify=False).bodies() == [b"first", b"sec0nd", b"third"]


@pytest.mark.parametrize(
    ("keywords", "raised"),
    [
        ({"properties": {"a": 1}}, TypeError),
        ({"properties": {"a": None}}, TypeError),
        ({"properties": {1: "a"}}, TypeError),
        ({"properties": [("a", "b")]}, TypeError),
        ({"properties": {"a": "\x02"}}, spanlog.InvalidError),
        ({"keys": "one"}, TypeError),
        ({"keys": [1]}, TypeError),
        ({"tags": b"bytes"}, TypeError),
        ({"tags": "\ud800"}, UnicodeEncodeError),
        ({"queue": -1}, OverflowError),
        ({"queue": 2**31}, spanlog.InvalidError),
        ({"queue": 0.5}, TypeError),
        ({"nonsense": 1}, TypeError),
    ],
)
def test_wrong_arguments_append_nothing(
    store: spanlog.Store, keywords: dict[str, Any], raised: type[Exception]
) -> None:
    """A dictionary with a number in it was stored without that property."""
    with pytest.raises(raised):
        store.append("orders", b"body", **keywords)
    assert store.watermarks().appended == 0


@pytest.mark.parametrize("body", ["text", 1, None, [1], object()])
def test_what_is_no_buffer_is_no_body(store: spanlog.Store, body: Any) -> None:
    for call in (store.append, lambda topic, body: store.append_many(topic, [body])):
        with pytest.raises(TypeError):
            call("orders", body)
    assert store.watermarks().appended == 0


def test_a_draft_and_keywords_do_not_mix(store: spanlog.Store) -> None:
    for keywords in ({"tags": "t"}, {"keys": ["k"]}, {"properties": {"a": "b"}}):
        with pytest.raises(TypeError):
            store.append("orders", spanlog.Draft(b""), **keywords)


@pytest.mark.parametrize(
    "options",
    [
        {"segment_len_bytes": 100},
        {"segment_len_bytes": -1},
        {"segment_len_bytes": "1"},
        {"placement": "random"},
        {"durability": "none"},
        {"durability": "group", "flush_bytes": 1},
        {"thresholds": spanlog.Thresholds(clean=2.0)},
        {"thresholds": 0.9},
        {"store_host": "localhost"},
        {"delete_hours": "25"},
        {"on_damage": "ignore"},
        {"paths": "one"},
        {"paths": [""]},
        {"paths": [spanlog.Directory("a", role="idle")]},
        {"read_onyl": True},
    ],
)
def test_options_out_of_range_open_nothing(root: Path, options: dict[str, Any]) -> None:
    with pytest.raises(
        (spanlog.InvalidError, ValueError, TypeError, OverflowError, AttributeError)
    ):
        spanlog.open(root, **options)
    assert not root.exists()


def test_paths_are_bytes_of_the_system(tmp_path: Path) -> None:
    """Names that are not UTF-8, and names with blanks, are names."""
    for name in (b"caf\xe9", b" store\t"):
        root = Path(str(tmp_path)) / os.fsdecode(name)
        with spanlog.open(root, **SMALL) as store:
            assert store.root == str(root) and root.is_dir()


def test_an_exception_travels_between_processes(store: spanlog.Store) -> None:
    with pytest.raises(spanlog.TooLargeError) as caught:
        store.append("orders", b"x" * (5 << 20))
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (type(copy), str(copy), copy.limit) == (
        type(caught.value),
        str(caught.value),
        caught.value.limit,
    )
    place = {"message": "text", "path": "/p", "range": range(3, 9), "errno": 5}
    error = spanlog.errors.exception("io", "io: text", place)
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.path, copy.range, copy.errno, str(copy)) == ("/p", range(3, 9), 5, "io: text")
