"""What several test files need: stores in fresh folders, child processes, the command."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import spanlog

PROJECT = Path(__file__).resolve().parent.parent.parent
SMALL = {"segment_len_bytes": 1 << 16, "queue_file_len_bytes": 2000}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def store(root: Path) -> Iterator[spanlog.Store]:
    """A store of small segments, empty."""
    with spanlog.open(root, **SMALL) as opened:
        yield opened


@pytest.fixture
def python() -> Callable[..., subprocess.Popen[str]]:
    """Starts a program in this interpreter."""

    def start(program: str, *args: object) -> subprocess.Popen[str]:
        command = [sys.executable, "-W", "error", "-c", program, *map(str, args)]
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return start


@pytest.fixture
def command() -> Callable[..., str]:
    """Runs the command `spanlog` and returns what it prints."""
    path = os.environ.get("SPANLOG_COMMAND")
    if not path:
        pytest.skip("SPANLOG_COMMAND does not name the command")

    def run(*args: object) -> str:
        done = subprocess.run(
            [path, *map(str, args)], capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
