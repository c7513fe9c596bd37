"""Appending and reading from Python, beside python-lmdb in the same run.

As in the engine's own benchmarks: memory is warmed before every sample, every sample follows a
run of the same side that does not count, sides take turns, and the figure is the median of five
rounds. **Every time of appending ends when the messages can be read** (`catch_up` returned).
lmdb is used at its fastest: ascending keys, one transaction, no flushing.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import struct
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import lmdb

import spanlog

QUICK = os.environ.get("BENCH_QUICK") == "1"
FOLDER = Path(os.environ.get("BENCH_DIR", "target/bench")) / "python"
FIGURES = Path(os.environ.get("BENCH_JSON", "target/bench.json"))
ROUNDS = 1 if QUICK else 5
BYTES = 1 << 20 if QUICK else 100 << 20
BATCH = 1000
TOPIC = "topic-of-sixteen"
QUEUES = 8

Side = Callable[[Path], float]


def count(size: int) -> int:
    """How many messages of a size make up a sample."""
    return BYTES // size // BATCH * BATCH


def store(folder: Path) -> spanlog.Store:
    return spanlog.open(folder / "store")


def append(size: int) -> Side:
    def run(folder: Path) -> float:
        body, total = bytes(size), count(size)
        with store(folder) as opened:
            put = opened.append
            start = time.perf_counter()
            for number in range(total):
                put(TOPIC, body, queue=number % QUEUES, tags="TagA")
            opened.catch_up()
            return total / (time.perf_counter() - start)

    return run


def append_many(size: int) -> Side:
    def run(folder: Path) -> float:
        bodies, total = [bytes(size)] * BATCH, count(size)
        with store(folder) as opened:
            start = time.perf_counter()
            for number in range(total // BATCH):
                opened.append_many(TOPIC, bodies, queue=number % QUEUES, tags="TagA")
            opened.catch_up()
            return total / (time.perf_counter() - start)

    return run


def read(size: int) -> Side:
    """Every message taken out as an object and its body looked at without a copy, checksums
    checked."""

    def run(folder: Path) -> float:
        bodies, total = [bytes(size)] * BATCH, count(size)
        with store(folder) as opened:
            for _ in range(total // BATCH):
                opened.append_many(TOPIC, bodies, tags="TagA")
            opened.catch_up()
            offset, seen = 0, 0
            start = time.perf_counter()
            while batch := opened.read(TOPIC, 0, offset, max_messages=BATCH, max_bytes=1 << 30):
                for message in batch:
                    seen += len(memoryview(message))
                offset = batch.next
            elapsed = time.perf_counter() - start
            assert seen == total * size
            return total / elapsed

    return run


def environment(folder: Path) -> lmdb.Environment:
    settings = {"sync": False, "metasync": False, "writemap": True, "map_async": True}
    return lmdb.open(str(folder / "lmdb"), map_size=1 << 34, **settings)


def pairs(size: int) -> Iterator[tuple[bytes, bytes]]:
    body = bytes(size)
    return ((struct.pack(">Q", number), body) for number in range(count(size)))


def lmdb_put(size: int) -> Side:
    def run(folder: Path) -> float:
        keys, body = [key for key, _ in pairs(size)], bytes(size)
        with environment(folder) as opened:
            start = time.perf_counter()
            with opened.begin(write=True) as transaction:
                put = transaction.put
                for key in keys:
                    put(key, body, append=True)
            return len(keys) / (time.perf_counter() - start)

    return run


def lmdb_put_many(size: int) -> Side:
    def run(folder: Path) -> float:
        rows = list(pairs(size))
        with environment(folder) as opened:
            start = time.perf_counter()
            with opened.begin(write=True) as transaction:
                transaction.cursor().putmulti(rows, append=True)
            return len(rows) / (time.perf_counter() - start)

    return run


def lmdb_read(size: int) -> Side:
    def run(folder: Path) -> float:
        with environment(folder) as opened:
            with opened.begin(write=True) as transaction:
                transaction.cursor().putmulti(pairs(size), append=True)
            seen = 0
            start = time.perf_counter()
            with opened.begin(buffers=True) as transaction:
                for _, value in transaction.cursor():
                    seen += len(value)
            elapsed = time.perf_counter() - start
            assert seen == count(size) * size
            return count(size) / elapsed

    return run


@dataclass
class Row:
    name: str
    ours: Side
    theirs: Side
    goal: float
    ratio: float


ROWS = [
    Row("python_append_1k", append(1024), lmdb_put(1024), 1e6, 2.5),
    Row("python_append_many_128", append_many(128), lmdb_put_many(128), 3e6, 0),
    Row("python_append_many_1k", append_many(1024), lmdb_put_many(1024), 3e6, 0),
    Row("python_read_batches", read(1024), lmdb_read(1024), 2e6, 0),
]


def sample(side: Side) -> float:
    """One sample of a side, on warm memory, after a run that does not count."""
    folder = FOLDER / "run"
    FOLDER.mkdir(parents=True, exist_ok=True)
    chunk = bytes(1 << 20)
    with (FOLDER / "warm").open("wb") as file:
        for _ in range(2 * BYTES // len(chunk)):
            file.write(chunk)
    (FOLDER / "warm").unlink()
    for _ in range(2):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        value = side(folder)
    shutil.rmtree(folder)
    return value


def measure(row: Row) -> dict[str, str | float]:
    samples: dict[str, list[float]] = {"ours": [], "theirs": []}
    for number in range(ROUNDS):
        sides = [("ours", row.ours), ("theirs", row.theirs)]
        for name, side in sides if number % 2 == 0 else reversed(sides):
            samples[name].append(sample(side))
        latest = " | ".join(f"{samples[name][-1] / 1e6:.2f} M" for name in samples)
        print(f"  round {number + 1}: {latest}", file=sys.stderr)
    value, baseline = (statistics.median(samples[name]) for name in ("ours", "theirs"))
    ratio = value / baseline
    met = "met" if value >= row.goal and ratio >= row.ratio else "MISSED"
    goal = f">= {row.goal / 1e6:.0f} M" + (f", {row.ratio} x" if row.ratio else "")
    figures = f"{value / 1e6:.2f} M msgs/s, lmdb {baseline / 1e6:.2f} M, ratio {ratio:.2f}"
    print(f"{row.name:<28} {figures}; target {goal} {met}")
    return {
        "name": row.name,
        "unit": "msgs/s",
        "value": value,
        "baseline": baseline,
        "ratio": ratio,
    }


def main() -> None:
    names = sys.argv[1:] or [row.name for row in ROWS]
    unknown = set(names) - {row.name for row in ROWS}
    if unknown:
        sys.exit(f"bench: no figure is called {', '.join(sorted(unknown))}")
    figures = []
    for row in ROWS:
        if row.name in names:
            print(f"measuring {row.name}", file=sys.stderr)
            figures.append(measure(row))
    shutil.rmtree(FOLDER)
    kept = json.loads(FIGURES.read_text()) if FIGURES.exists() else []
    kept = [figure for figure in kept if figure["name"] not in names]
    FIGURES.parent.mkdir(parents=True, exist_ok=True)
    FIGURES.write_text(json.dumps(kept + figures, indent=2) + "\n")
    print(f"added to {FIGURES}")


if __name__ == "__main__":
    main()
