"""spanlog: a message-log storage engine inside this process.

One commit log over many disks, queues over it, and a disk policy, in the files of Apache
RocketMQ's store::

    import spanlog

    with spanlog.open("store") as store:
        store.append("orders", b"tea", tags="drink", keys=["order-7"])
        store.catch_up()  # what was appended so far can now be read
        for message in store.messages("orders"):
            print(message.queue_offset, message.body)

Every object may be used from any thread. Calls that wait or work on batches give the interpreter
lock back meanwhile. Messages are buffers of their bodies that stay valid after the store was
closed. A store that was open when the process forked belongs to the parent; in the child its calls
raise ForkedError.
"""

from . import aio, errors
from ._spanlog import (
    Batch,
    Cursor,
    Draft,
    Message,
    Messages,
    Queue,
    QueueReader,
    QueueRecord,
    Receipt,
    RepairPlan,
    Store,
    Watch,
    __version__,
    destroy,
    open,
    plan_repair,
    verify,
)
from .errors import (
    ClosedError,
    CorruptError,
    ForeignError,
    ForkedError,
    FullError,
    GoneError,
    InvalidError,
    LockedError,
    OfflineError,
    PoisonedError,
    SpanlogError,
    StorageError,
    TooLargeError,
    VersionError,
)
from .reports import (
    Bounds,
    CleanPlan,
    CursorQueue,
    CursorReport,
    Damaged,
    Delivery,
    Directory,
    DirectoryReport,
    Dropped,
    Fate,
    Finding,
    Inspection,
    Lag,
    Overtaken,
    QueueReport,
    QueueStat,
    QueueVerification,
    ReaderStat,
    Recovery,
    RepairAction,
    Repaired,
    Salvage,
    SegmentReport,
    Thresholds,
    Verification,
    Watermarks,
)

__all__ = [
    "Batch",
    "Bounds",
    "CleanPlan",
    "ClosedError",
    "CorruptError",
    "Cursor",
    "CursorQueue",
    "CursorReport",
    "Damaged",
    "Delivery",
    "Directory",
    "DirectoryReport",
    "Draft",
    "Dropped",
    "Fate",
    "Finding",
    "ForeignError",
    "ForkedError",
    "FullError",
    "GoneError",
    "Inspection",
    "InvalidError",
    "Lag",
    "LockedError",
    "Message",
    "Messages",
    "OfflineError",
    "Overtaken",
    "PoisonedError",
    "Queue",
    "QueueReader",
    "QueueRecord",
    "QueueReport",
    "QueueStat",
    "QueueVerification",
    "ReaderStat",
    "Receipt",
    "Recovery",
    "RepairAction",
    "RepairPlan",
    "Repaired",
    "Salvage",
    "SegmentReport",
    "SpanlogError",
    "StorageError",
    "Store",
    "Thresholds",
    "TooLargeError",
    "Verification",
    "VersionError",
    "Watch",
    "Watermarks",
    "__version__",
    "aio",
    "destroy",
    "errors",
    "open",
    "plan_repair",
    "verify",
]
