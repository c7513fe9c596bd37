"""Follows a queue as it grows, from an event loop and without a thread.

    python tail.py DIR COUNT

prints COUNT messages of topic "events" while another task appends them.
"""

import asyncio
import sys

import spanlog


async def produce(store: spanlog.Store, count: int) -> None:
    for number in range(count):
        store.append("events", b"event %d" % number)
        if number % 3 == 0:
            await asyncio.sleep(0.01)


async def follow(store: spanlog.Store, count: int) -> None:
    async for message in spanlog.aio.messages(store, "events"):
        print(message.queue_offset, message.body.decode())
        if message.queue_offset == count - 1:
            return


async def main(root: str, count: int) -> None:
    with spanlog.open(root, segment_len_bytes=1 << 20) as store:
        await asyncio.gather(follow(store, count), produce(store, count))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
