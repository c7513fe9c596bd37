"""Stores written in one language and read in another: here with the command, which is Rust."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import spanlog

BODIES = [b"tea", "caf\u00e9 \u8336".encode(), b"x" * 3000]


def test_the_command_reads_what_python_wrote(root: Path, command: Callable[..., str]) -> None:
    with spanlog.open(root, segment_len_bytes=1 << 20) as store:
        for number, body in enumerate(BODIES):
            store.append("orders", body, queue=2, tags=f"t{number}", keys=[f"k{number}"])
    lines = command(
        "read", "--root", root, "--topic", "orders", "--queue", 2, "--json"
    ).splitlines()
    rows = [row for row in map(json.loads, lines) if "body" in row]
    assert [row["body"].encode() for row in rows] == BODIES
    assert [(row["tags"], row["keys"]) for row in rows] == [
        (f"t{number}", [f"k{number}"]) for number in range(3)
    ]


def test_python_reads_what_the_command_wrote(root: Path, command: Callable[..., str]) -> None:
    for body in BODIES:
        command(
            "append", "--root", root, "--segment-size", "1MiB", "--topic", "orders",
            "--tags", "drink", "--keys", "order-7", body.decode(),
        )  # fmt: skip
    with spanlog.open(root) as store:
        assert store.recovery().was_clean
        messages = list(store.messages("orders"))
        assert [message.body for message in messages] == BODIES
        assert {(message.tags, *message.keys) for message in messages} == {("drink", "order-7")}
        store.append("orders", b"again")
    assert "again" in command("read", "--root", root, "--topic", "orders", "--bodies")
