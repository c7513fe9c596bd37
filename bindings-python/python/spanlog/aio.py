"""Following queues and cursors from an asyncio event loop, without a thread: the loop polls a
descriptor::

    async for message in spanlog.aio.messages(store, "orders"):
        ...
    async for delivery in spanlog.aio.deliveries(cursor):
        ...
    async for record in spanlog.aio.records(queue.reader()):
        ...

Reading itself is done in the loop's thread, a batch at a time.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

from ._spanlog import Cursor, Message, QueueReader, QueueRecord, Store, Watch
from .reports import Delivery

__all__ = ["deliveries", "messages", "readable", "records"]


async def readable(watch: Watch | QueueReader, timeout: float | None = None) -> None:
    """Returns once there is something that was not seen, the store was closed, or timeout seconds
    are over."""
    loop = asyncio.get_running_loop()
    woken = loop.create_future()

    def wake() -> None:
        if not woken.done():
            woken.set_result(None)

    # A descriptor can be waited for once at a time, so every waiter has a watch of its own.
    loop.add_reader(watch.fileno(), wake)
    try:
        await asyncio.wait([woken], timeout=timeout)
    finally:
        loop.remove_reader(watch.fileno())


async def messages(
    store: Store, topic: str, queue: int = 0, offset: int = 0, *, verify: bool = True
) -> AsyncIterator[Message]:
    """The messages of a queue from an offset on, and those to come, for ever. Gaps that retention
    left are passed over. Raises ClosedError when the store is closed."""
    watch = store.watch(topic, queue)
    following = store.messages(topic, queue, offset, verify=verify)
    while True:
        watch.clear()
        for message in following:
            yield message
        await readable(watch)


async def deliveries(
    cursor: Cursor, *, max_messages: int = 256, max_bytes: int = 1 << 20
) -> AsyncIterator[Delivery]:
    """What a cursor delivers, for ever: new messages, and those that are due again. Raises
    ClosedError when the cursor or its store is closed."""
    watch = cursor.watch()
    while True:
        watch.clear()
        delivery = cursor.poll(max_messages=max_messages, max_bytes=max_bytes)
        if delivery or delivery.overtaken:
            yield delivery
            continue
        due = cursor.next_due_ms
        await readable(watch, None if due is None else max(0.001, due / 1000 - time.time()))


async def records(reader: QueueReader) -> AsyncIterator[QueueRecord]:
    """What a reader of a queue pops, for ever. Raises ClosedError when the queue is closed."""
    while True:
        while (record := reader.pop()) is not None:
            yield record
        reader.clear()
        await readable(reader)
