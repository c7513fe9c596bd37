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
