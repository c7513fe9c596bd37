"""Following a queue from an asyncio event loop, without a thread: the loop polls the descriptor
of a watch::

    async for message in spanlog.aio.messages(store, "orders"):
        ...

Reading itself is done in the loop's thread, a batch at a time.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from ._spanlog import Message, Store, Watch

__all__ = ["messages", "readable"]


async def readable(watch: Watch) -> None:
    """Returns once there is something that the watch has not seen, or the store was closed."""
    loop = asyncio.get_running_loop()
    woken = loop.create_future()

    def wake() -> None:
        if not woken.done():
            woken.set_result(None)

    # A descriptor can be waited for once at a time, so every waiter has a watch of its own.
    loop.add_reader(watch.fileno(), wake)
    try:
        await woken
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
