"""The exceptions, one class for each kind of error: what the caller should do about it."""

from __future__ import annotations

from typing import ClassVar

_FIELDS = ("path", "offset", "limit", "range", "errno")


class SpanlogError(Exception):
    """An operation of a store failed. The class is the contract; `str` is a sentence for people.

    kind: the kind's name, the same in every language.
    message: the sentence without the place.
    path: the file or directory concerned, or None.
    offset: the byte in the file, or the position of the log, or None.
    limit: the limit that was passed, or None.
    range: the part of the log that is offline, damaged or gone, or None.
    errno: the system's error number where the system refused, or None.
    """

    kind: ClassVar[str] = ""

    message: str
    path: str | None
    offset: int | None
    limit: int | None
    range: range | None
    errno: int | None

    def __init__(self, text: str = "", **place: object) -> None:
        super().__init__(text)
        self.text = text
        for name in _FIELDS:
            setattr(self, name, place.get(name))
        self.message = str(place.get("message", text))

    def __str__(self) -> str:
        return self.text

    def __reduce__(self) -> tuple[object, ...]:
        place = {name: getattr(self, name) for name in ("message", *_FIELDS)}
        return _made, (type(self), self.text, place)


class InvalidError(SpanlogError, ValueError):
    """An argument or option is unusable: fix it. Nothing was changed."""

    kind = "invalid"


class TooLargeError(SpanlogError, ValueError):
    """The message is larger than a limit: split it or raise the limit. Nothing was written."""

    kind = "too_large"


class FullError(SpanlogError, OSError):
    """No writable directory has room: wait for cleaning, or add space. Reads go on."""

    kind = "full"


class GoneError(SpanlogError, LookupError):
    """The range was dropped by retention: go on at `start`."""

    kind = "gone"

    @property
    def start(self) -> int | None:
        """Where the log starts now."""
        return self.limit


class OfflineError(SpanlogError):
    """The range lies on a directory that is not there: see `range`."""

    kind = "offline"


class ForeignError(SpanlogError):
    """A directory belongs to another store: give the right one."""

    kind = "foreign"


class LockedError(SpanlogError):
    """Another process, or another Store of this one, has the store open."""

    kind = "locked"


class VersionError(SpanlogError):
    """The files were written by a later release of spanlog."""

    kind = "version"


class CorruptError(SpanlogError):
    """Bytes on disk are not what was written: stop, and look at `path` and `offset`."""

    kind = "corrupt"


class StorageError(SpanlogError, OSError):
    """An operation of the system failed and changed nothing: see `errno`."""

    kind = "io"


class PoisonedError(SpanlogError):
    """A flush failed earlier, so nothing more can be promised: open the store again."""

    kind = "poisoned"


class ClosedError(SpanlogError, ValueError):
    """The store was closed."""

    kind = "closed"


class ForkedError(ClosedError):
    """The store was opened by the parent of this process: open it again."""


CLASSES: dict[str, type[SpanlogError]] = {
    cls.kind: cls
    for cls in (
        InvalidError,
        TooLargeError,
        FullError,
        GoneError,
        OfflineError,
        ForeignError,
        LockedError,
        VersionError,
        CorruptError,
        StorageError,
        PoisonedError,
        ClosedError,
    )
}


def _made(cls: type[SpanlogError], text: str, place: dict[str, object]) -> SpanlogError:
    made = cls(text, **place)
    if isinstance(made, OSError):
        made.filename = made.path
    return made


def exception(kind: str, text: str, place: dict[str, object]) -> SpanlogError:
    """The exception for an error of the engine: its kind, its sentence, and its fields."""
    return _made(CLASSES.get(kind, SpanlogError), text, place)
