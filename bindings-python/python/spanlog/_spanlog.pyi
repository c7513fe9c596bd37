"""The types of the compiled module. Its docstrings are in the module: see help(spanlog)."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import TracebackType
from typing import Literal, Self, final, overload

from typing_extensions import Buffer

from .reports import (
    Bounds,
    CleanPlan,
    Directory,
    DirectoryReport,
    Dropped,
    Inspection,
    QueueReport,
    QueueStat,
    Recovery,
    SegmentReport,
    Thresholds,
    Verification,
    Watermarks,
)

__all__ = [
    "Batch",
    "Draft",
    "Message",
    "Messages",
    "Queue",
    "QueueReader",
    "QueueRecord",
    "Receipt",
    "Store",
    "Watch",
    "__version__",
    "_forked",
    "destroy",
    "open",
    "verify",
]

__version__: str

_Progress = Callable[[str, int, int], object]
_Path = str | os.PathLike[str]
_Role = Literal["read-write", "draining", "read-only"]
_Quantifier = Literal["any", "all"]
_Status = Literal[
    "found", "no_queue", "empty", "too_small", "at_end", "too_large", "removed", "no_match"
]
_Task = Literal["flush", "index", "checkpoint", "probe", "clean", "prepare"]

def open(
    root: _Path,
    *,
    paths: Iterable[_Path | Directory] | None = None,
    placement: Literal["rocketmq", "free-space", "hash"] | None = None,
    segment_len_bytes: int | None = None,
    queue_file_len_bytes: int | None = None,
    durability: Literal["async", "group"] | None = None,
    flush_interval_ms: int | None = None,
    flush_bytes: int | None = None,
    thresholds: Thresholds | None = None,
    clean_on: _Quantifier | None = None,
    force_on: _Quantifier | None = None,
    refuse_on: _Quantifier | None = None,
    retention_ms: int | None = None,
    delete_hours: str | None = None,
    forced_clean: bool | None = None,
    max_forced_per_round: int | None = None,
    clean_pause_ms: int | None = None,
    probe_interval_ms: int | None = None,
    clean_interval_ms: int | None = None,
    refuse_reads_when_full: bool | None = None,
    record_checksum: bool | None = None,
    max_body_bytes: int | None = None,
    store_host: str | None = None,
    max_maps: int | None = None,
    on_damage: Literal["refuse", "skip", "cut"] | None = None,
    allow_offline: bool | None = None,
    adopt: bool | None = None,
    read_only: bool | None = None,
    create: bool | None = None,
    checkpoint_interval_ms: int | None = None,
    prepare_bytes: int | None = None,
    background: bool | None = None,
) -> Store: ...
def destroy(root: _Path, *, paths: Iterable[_Path | Directory] | None = None) -> None: ...
def verify(
    root: _Path,
    *,
    paths: Iterable[_Path | Directory] | None = None,
    allow_offline: bool = False,
    progress: _Progress | None = None,
) -> Verification: ...
def _forked() -> None: ...

@final
class Draft:
    def __new__(
        cls,
        body: Buffer,
        *,
        tags: str | None = None,
        keys: Sequence[str] | None = None,
        properties: dict[str, str] | None = None,
        flag: int = 0,
        sys_flag: int = 0,
        born_ms: int | None = None,
        born_host: str | None = None,
        reconsume_times: int = 0,
        prepared_position: int = 0,
    ) -> Self: ...

@final
class Receipt:
    @property
    def position(self) -> int: ...
    @property
    def queue_offset(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def store_ms(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Message:
    @property
    def body(self) -> bytes: ...
    @property
    def record(self) -> bytes: ...
    @property
    def topic(self) -> str: ...
    @property
    def queue(self) -> int: ...
    @property
    def queue_offset(self) -> int: ...
    @property
    def position(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def tags(self) -> str | None: ...
    @property
    def keys(self) -> list[str]: ...
    @property
    def properties(self) -> dict[str, str]: ...
    @property
    def unique_id(self) -> str | None: ...
    @property
    def born_ms(self) -> int: ...
    @property
    def born_host(self) -> str: ...
    @property
    def store_ms(self) -> int: ...
    @property
    def store_host(self) -> str: ...
    @property
    def flag(self) -> int: ...
    @property
    def sys_flag(self) -> int: ...
    @property
    def reconsume_times(self) -> int: ...
    @property
    def prepared_position(self) -> int: ...
    def __bytes__(self) -> bytes: ...
    def __len__(self) -> int: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...

@final
class Batch:
    @property
    def status(self) -> _Status: ...
    @property
    def next(self) -> int: ...
    @property
    def bounds(self) -> Bounds: ...
    def bodies(self) -> list[bytes]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> Message: ...
    def __iter__(self) -> Messages: ...

@final
class Messages(Iterator[Message]):
    def __iter__(self) -> Self: ...
    def __next__(self) -> Message: ...

@final
class Store:
    def append(
        self,
        topic: str,
        body: Buffer | Draft,
        *,
        queue: int = 0,
        tags: str | None = None,
        keys: Sequence[str] | None = None,
        properties: dict[str, str] | None = None,
        durable: bool = False,
    ) -> Receipt: ...
    def append_many(
        self,
        topic: str,
        messages: Iterable[Buffer | Draft],
        *,
        queue: int = 0,
        tags: str | None = None,
        durable: bool = False,
    ) -> Receipt: ...
    def read(
        self,
        topic: str,
        queue: int = 0,
        offset: int = 0,
        *,
        max_messages: int = 256,
        max_bytes: int = 1048576,
        tags: str | None = None,
        verify: bool = True,
        copy: bool = False,
    ) -> Batch: ...
    def messages(
        self,
        topic: str,
        queue: int = 0,
        offset: int = 0,
        *,
        tags: str | None = None,
        verify: bool = True,
    ) -> Messages: ...
    def query(
        self,
        topic: str,
        key: str,
        *,
        kind: Literal["key", "unique_id", "tag"] = "key",
        from_ms: int | None = None,
        to_ms: int | None = None,
        max_messages: int = 32,
        verify: bool = True,
    ) -> Batch: ...
    def find_by_id(self, topic: str, id: str) -> Batch: ...
    def offset_at(
        self,
        topic: str,
        queue: int = 0,
        *,
        time_ms: int,
        boundary: Literal["lower", "upper"] = "lower",
    ) -> int: ...
    def verify(self, *, progress: _Progress | None = None) -> Verification: ...
    def get(self, position: int) -> Message: ...
    def bounds(self, topic: str, queue: int = 0) -> Bounds | None: ...
    def catch_up(self) -> None: ...
    def flush(self) -> None: ...
    def wait(
        self, topic: str, queue: int = 0, offset: int = 0, *, timeout: float | None = None
    ) -> bool: ...
    def wait_appended(self, position: int, *, timeout: float | None = None) -> bool: ...
    @overload
    def watch(self, topic: str, queue: int | None = None) -> Watch: ...
    @overload
    def watch(self, topic: None = None, queue: None = None) -> Watch: ...
    def watermarks(self) -> Watermarks: ...
    def disks(self) -> list[DirectoryReport]: ...
    def segments(self) -> list[SegmentReport]: ...
    def queues(self) -> list[QueueReport]: ...
    def inspect(self) -> Inspection: ...
    def recovery(self) -> Recovery: ...
    def plan_clean(self, *, manual: bool = False) -> CleanPlan: ...
    def clean_now(self) -> None: ...
    def dropped(self) -> list[Dropped]: ...
    def add_directory(self, path: _Path | Directory) -> None: ...
    def set_role(self, path: _Path, role: _Role) -> None: ...
    def set_usage(
        self, path: _Path, *, used_bytes: int | None = None, available_bytes: int | None = None
    ) -> None: ...
    def remove_directory(self, path: _Path) -> None: ...
    def run(self, task: _Task) -> bool: ...
    def close(self) -> None: ...
    @property
    def closed(self) -> bool: ...
    @property
    def root(self) -> str: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        *_exception: type[BaseException] | BaseException | TracebackType | None,
    ) -> None: ...

@final
class Watch:
    def wait(self, *, timeout: float | None = None) -> bool: ...
    def clear(self) -> None: ...
    def fileno(self) -> int: ...

@final
class QueueRecord:
    @property
    def body(self) -> bytes: ...
    @property
    def position(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def number(self) -> int: ...
    def __bytes__(self) -> bytes: ...
    def __len__(self) -> int: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...

@final
class QueueReader(Iterator[QueueRecord]):
    def pop(self, *, timeout: float | None = 0.0) -> QueueRecord | None: ...
    def pop_many(
        self,
        *,
        max_records: int = 256,
        max_bytes: int = 1048576,
        timeout: float | None = 0.0,
    ) -> list[QueueRecord]: ...
    def peek(self) -> QueueRecord | None: ...
    def commit(self, record: QueueRecord) -> None: ...
    def commit_to(self, end: int) -> None: ...
    def rewind(self) -> None: ...
    def backlog(self) -> tuple[int, int]: ...
    def fileno(self) -> int: ...
    def clear(self) -> None: ...
    @property
    def name(self) -> str: ...
    def __iter__(self) -> Self: ...
    def __next__(self) -> QueueRecord: ...

@final
class Queue:
    def __new__(
        cls,
        root: _Path,
        *,
        paths: Iterable[_Path | Directory] | None = None,
        placement: Literal["rocketmq", "free-space", "hash"] | None = None,
        segment_len_bytes: int | None = None,
        capacity_segments: int | None = None,
        capacity_bytes: int | None = None,
        max_record_bytes: int | None = None,
        max_in_memory_segments: int | None = None,
        on_full: Literal["refuse", "drop-oldest"] | float | None = None,
        durability: Literal["none", "interval", "group", "each"] | None = None,
        flush_interval_ms: int | None = None,
        flush_records: int | None = None,
        thresholds: Thresholds | None = None,
        probe_interval_ms: int | None = None,
        create: bool | None = None,
        background: bool | None = None,
    ) -> Self: ...
    def push(self, payload: Buffer) -> int: ...
    def push_many(self, payloads: Iterable[Buffer]) -> int: ...
    def reader(self, name: str = "default") -> QueueReader: ...
    def remove_reader(self, name: str) -> None: ...
    def flush(self) -> None: ...
    def stat(self) -> QueueStat: ...
    def close(self) -> None: ...
    @property
    def closed(self) -> bool: ...
    @property
    def root(self) -> str: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        *_exception: type[BaseException] | BaseException | TracebackType | None,
    ) -> None: ...
