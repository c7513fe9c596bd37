"""Messages that survive a loss of power: one by one, and many threads sharing each flush.

python durable.py DIR
"""

import sys
from concurrent.futures import ThreadPoolExecutor

import spanlog


def main(root: str) -> None:
    # One message of many matters: it alone waits for the device.
    with spanlog.open(f"{root}/mixed", segment_len_bytes=1 << 20) as store:
        store.append("metrics", b"temperature 21")
        receipt = store.append("payments", b"42 from ann to bob", durable=True)
        marks = store.watermarks()
        print("payment durable:", marks.flushed >= receipt.end)

    # Every message matters: those that wait at the same time share one flush.
    with spanlog.open(f"{root}/group", segment_len_bytes=1 << 20, durability="group") as store:

        def pay(number: int) -> int:
            return store.append("payments", b"%d cents" % number, queue=number % 4).end

        with ThreadPoolExecutor(8) as pool:
            ends = list(pool.map(pay, range(200)))
        print("all durable:", store.watermarks().flushed >= max(ends))
        try:
            store.append_many("payments", [b"x" * 400_000] * 3, durable=True)
        except spanlog.TooLargeError as error:
            print("refused whole:", error.kind, "limit", error.limit)

    with spanlog.open(f"{root}/group") as store:
        print("payments kept:", sum(len(store.read("payments", queue)) for queue in range(4)))


if __name__ == "__main__":
    main(sys.argv[1])
