"""What is installed: help, types, versions."""

from __future__ import annotations

import importlib.metadata
import inspect
import pydoc
import subprocess
import sys
from pathlib import Path

import pytest

import spanlog
from conftest import PROJECT

HERE = Path(__file__).parent


def test_the_installed_package_is_tested_and_not_the_source() -> None:
    assert Path(spanlog.__file__).is_relative_to(sys.prefix)
    assert importlib.metadata.version("spanlog") == spanlog.__version__
    manifest = (PROJECT / "Cargo.toml").read_text()
    assert f'version = "{spanlog.__version__}"' in manifest


def test_everything_public_is_documented() -> None:
    missing = []
    for name in spanlog.__all__:
        thing = getattr(spanlog, name)
        if inspect.isclass(thing) and not issubclass(thing, tuple):
            members = [f"{name}.{member}" for member in vars(thing) if not member.startswith("_")]
            fields = getattr(thing, "__dataclass_fields__", {}) or getattr(
                thing, "__annotations__", {}
            )
            missing += [
                member
                for member in members
                if member.split(".")[1] not in {*fields, "kind"}
                and not inspect.getdoc(getattr(thing, member.split(".")[1]))
            ]
        if not name.startswith("__") and not inspect.getdoc(thing):
            missing.append(name)
    assert missing == []


def test_help_shows_signatures_and_sentences() -> None:
    text = pydoc.render_doc(spanlog, renderer=pydoc.plaintext)
    assert "append(self, /, topic, body, *, queue=0" in text
    assert "Appends a message: a body, or a Draft." in text
    assert "open(root, *, paths=None, placement=None" in text
    assert "A write or read of" not in text


def run(folder: Path, *command: str) -> None:
    command = (sys.executable, "-m", *command)
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=folder, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "check",
    [
        ["mypy.stubtest", "spanlog", "--allowlist", str(HERE / "stubtest-allowlist.txt")],
        ["mypy", "--strict", "-p", "spanlog"],
        ["mypy", "--strict", str(HERE / "typed_use.py")],
    ],
    ids=["stubs fit the module", "the package is typed", "typed use"],
)
def test_types(check: list[str], tmp_path: Path) -> None:
    run(tmp_path, *check)


@pytest.mark.parametrize("check", [["check"], ["format", "--check"]], ids=["lints", "format"])
def test_source(check: list[str]) -> None:
    run(HERE.parent, "ruff", *check, "--no-cache", "--quiet", ".")
