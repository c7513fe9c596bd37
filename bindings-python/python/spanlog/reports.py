"""Plain values that go in and come out. Sizes are bytes, times milliseconds since 1970."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ._spanlog import Message
    from .errors import SpanlogError


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The marks of a disk, as used / (used + available) from 0 to 1.

    Above `clean` expired segments go at once; above `force` the disk takes no new segment, and
    when all are above it, segments go regardless of age; when all are above `refuse`, appends are
    refused. `floor_bytes` are kept free; a mark that was passed holds until usage is `hysteresis`
    below it.
    """

    clean: float = 0.75
    force: float = 0.85
    refuse: float = 0.90
    floor_bytes: int = 0
    hysteresis: float = 0.01


@dataclass(frozen=True, slots=True)
class Directory:
    """A directory of segments for `open` and `Store.add_directory`.

    role: "read-write", "draining" or "read-only"; None is the role that the store remembers.
    thresholds: marks of its own; None means the store's.
    """

    path: str | os.PathLike[str]
    role: str | None = None
    thresholds: Thresholds | None = None


class Bounds(NamedTuple):
    """The first offset that a queue keeps, and one past the last that can be read."""

    min: int
    max: int


@dataclass(frozen=True, slots=True)
class Watermarks:
    """How far the log has come, as positions: below `start` nothing is kept, below `flushed`
    everything is durable, below `indexed` in the queues, below `appended` written."""

    start: int
    flushed: int
    indexed: int
    appended: int


@dataclass(frozen=True, slots=True)
class DirectoryReport:
    """One directory of a store; figures of its disk are None where they are not known.

    pressure is the highest mark in force: "none", "clean", "force" or "refuse". offline says why it
    cannot be used, takes_segments whether the next one may go there.
    """

    path: str
    role: str
    device: int
    thresholds: Thresholds
    used_ratio: float | None
    used_bytes: int | None
    available_bytes: int | None
    pressure: str
    offline: str | None
    takes_segments: bool
    segments: int
    segment_bytes: int


@dataclass(frozen=True, slots=True)
class SegmentReport:
    """One segment of a store. held: somebody has a message of it. dropped: retention let it go, and
    its space comes back when it is released."""

    base: int
    len_bytes: int
    path: str
    last_store_ms: int | None
    held: bool
    dropped: bool


@dataclass(frozen=True, slots=True)
class QueueReport:
    """One queue of a store."""

    topic: str
    queue: int
    bounds: Bounds


@dataclass(frozen=True, slots=True)
class Inspection:
    """A picture of a whole store. offline are ranges on directories that are not there, maps the
    files mapped now; refused says why appends are refused, poisoned why nothing can be promised."""

    watermarks: Watermarks
    segment_len_bytes: int
    directories: list[DirectoryReport]
    segments: list[SegmentReport]
    queues: list[QueueReport]
    offline: list[range]
    maps: int
    refused: str | None
    poisoned: str | None


@dataclass(frozen=True, slots=True)
class Fate:
    """What cleaning does with the segment at `base`: `reason` is its name, `text` a sentence."""

    base: int
    len_bytes: int
    reason: str
    text: str
    drops: bool


@dataclass(frozen=True, slots=True)
class CleanPlan:
    """A round of cleaning: how many segments leave from the front, where the log starts then (None:
    nothing leaves), and what happens to each segment."""

    drop: int
    start: int | None
    fates: list[Fate]


@dataclass(frozen=True, slots=True)
class Dropped:
    """A segment that cleaning dropped."""

    base: int
    path: str
    at_ms: int
    reason: str


@dataclass(frozen=True, slots=True)
class Damaged:
    """A range of the log that holds no records."""

    range: range
    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Salvage:
    """Whole records behind a cut, saved in a file."""

    records: int
    path: str


@dataclass(frozen=True, slots=True)
class Recovery:
    """What opening a store found and did: whether it had been closed cleanly, from where to where
    it was read, how many records that were, what was cut off, saved, passed over or left alone."""

    was_clean: bool
    scanned_from: int
    end: int
    records: int
    rebuilt_queues: bool
    torn_tail: Damaged | None
    salvaged: Salvage | None
    skipped: list[Damaged]
    offline: list[range]
    ignored: list[str]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it should be. is_damage is False for what a crash may leave; the
    place is `len_bytes` from `offset` in the file, and `range` of the log if it is about that."""

    kind: str
    is_damage: bool
    path: str
    offset: int
    len_bytes: int
    range: range | None
    text: str


@dataclass(frozen=True, slots=True)
class Verification:
    """What reading all of a store found: whether it is sound, how many whole records there are in
    which part of the log, whether it had been closed, the findings, and how many more there are."""

    is_sound: bool
    records: int
    range: range
    was_closed: bool
    findings: list[Finding]
    more_findings: int


@dataclass(frozen=True, slots=True)
class RepairAction:
    """One thing that mending a store takes, with the file and the part of the log concerned."""

    action: str
    path: str | None
    range: range | None
    text: str


@dataclass(frozen=True, slots=True)
class Repaired:
    """What a repair did: files with what was cut or written over, and what opening found then."""

    saved: list[str]
    recovery: Recovery


@dataclass(frozen=True, slots=True)
class QueueVerification:
    """What reading all of a queue found: whole records, the bytes of their payloads, and ranges
    that are no records."""

    records: int
    payload_bytes: int
    damaged: list[Damaged]

    @property
    def is_sound(self) -> bool:
        """Whether there is no damage."""
        return not self.damaged


@dataclass(frozen=True, slots=True)
class Overtaken:
    """Offsets of a queue that retention dropped before a cursor had acknowledged them; it goes on
    behind them."""

    queue: int
    gone: range


@dataclass(frozen=True, slots=True)
class Delivery:
    """What one poll of a cursor gave: messages, what retention took first, and queues that could
    not be read, with the reason. It is as long as its messages, and iterates over them."""

    messages: list[Message]
    overtaken: list[Overtaken]
    failures: list[tuple[int, SpanlogError]]

    def __len__(self) -> int:
        return len(self.messages)

    def __iter__(self) -> Iterator[Message]:
        return iter(self.messages)


def delivery(
    messages: list[Message],
    overtaken: list[tuple[int, int, int]],
    failures: list[tuple[int, SpanlogError]],
) -> Delivery:
    """A delivery from what the engine tells."""
    gone = [Overtaken(queue, range(start, end)) for queue, start, end in overtaken]
    return Delivery(messages, gone, failures)


@dataclass(frozen=True, slots=True)
class Lag:
    """What a cursor has not acknowledged: messages, bytes, and for how long the oldest of them has
    been stored."""

    messages: int
    bytes: int
    age_ms: int | None


@dataclass(frozen=True, slots=True)
class CursorQueue:
    """Where a cursor stands in one queue: everything below `acknowledged` is, and everything below
    `committed` durably so; `next` was not delivered yet."""

    queue: int
    acknowledged: int
    committed: int
    next: int
    bounds: Bounds
    lag: Lag


@dataclass(frozen=True, slots=True)
class CursorReport:
    """A cursor. hold: how long and how many bytes of segments it keeps from being dropped, or None;
    damage: why its file cannot be used, or None."""

    topic: str
    name: str
    is_open: bool
    hold: tuple[int | None, int | None] | None
    queues: list[CursorQueue]
    damage: str | None


@dataclass(frozen=True, slots=True)
class ReaderStat:
    """A reader of a queue: everything before `committed` is done, `reading` is popped next."""

    name: str
    committed: int
    reading: int
    records: int
    unread_bytes: int


@dataclass(frozen=True, slots=True)
class QueueStat:
    """A queue at one moment: positions on its line, what it keeps, what it dropped because it was
    full, and its segments."""

    start: int
    end: int
    flushed: int
    records: int
    bytes: int
    dropped: int
    segment_len_bytes: int
    capacity_segments: int
    segments: int
    mapped_segments: int
    readers: list[ReaderStat]
