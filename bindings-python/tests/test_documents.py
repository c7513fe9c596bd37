"""The examples in documents and under `examples/python` do what they say."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import PROJECT

DOCUMENTS = {
    "README.md": "0 two teapots\n1 survives a loss of power\n",
    "bindings-python/README.md": "0 two teapots\n1 survives a loss of power\n",
}


def run(folder: Path, *command: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", *command],
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_example_of_a_document_runs_as_printed(name: str, tmp_path: Path) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", (PROJECT / name).read_text(), re.DOTALL)
    assert len(program.splitlines()) <= 10
    assert run(tmp_path, "-c", program) == DOCUMENTS[name]


EXAMPLES = {
    "quickstart": (
        "0 kitchen teapot\n1 kitchen cup\n2 kitchen saucer\n3 furniture table\n"
        "4 furniture chair\norder-1 is cup and furniture is [b'table', b'chair']\n"
    ),
    "durable": (
        "payment durable: True\nall durable: True\nrefused whole: too_large limit 1048568\n"
        "payments kept: 200\n"
    ),
    "work_queue": ("done: DRY, FLAKY, FOLD, WASH\nfailed: broken because it did not work\n"),
    "tail": "".join(f"{number} event {number}\n" for number in range(20)),
    "many_disks": (
        "segments take turns:\n"
        "  small: 2 segments, pressure none\n"
        "  large: 2 segments, pressure none\n"
        "small is above its force mark and takes no more:\n"
        "  small: 2 segments, pressure force\n"
        "  large: 6 segments, pressure none\n"
        "all are above it: 1 of 8 segments would go\n"
        "  the first is dropped before its age: disks are full\n"
        "the log begins at 65536\n"
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_does_what_it_says(name: str, tmp_path: Path) -> None:
    path = PROJECT / "examples" / "python" / f"{name}.py"
    arguments = [str(tmp_path / "store"), *(["20"] if name == "tail" else [])]
    assert run(tmp_path, str(path), *arguments) == EXAMPLES[name]


def test_every_example_is_run_and_short() -> None:
    paths = list((PROJECT / "examples" / "python").glob("*.py"))
    assert {path.stem for path in paths} == set(EXAMPLES)
    for path in paths:
        assert len(path.read_text().splitlines()) <= 60, path
        assert run(
            PROJECT,
            "-m",
            "ruff",
            "format",
            "--check",
            "--no-cache",
            "--line-length",
            "100",
            str(path),
        )
