"""A store: append, read back, find by tag and key.

python quickstart.py DIR
"""

import sys

import spanlog


def main(root: str) -> None:
    with spanlog.open(root, segment_len_bytes=1 << 20) as store:
        for number, dish in enumerate(["teapot", "cup", "saucer"]):
            store.append("orders", dish.encode(), tags="kitchen", keys=[f"order-{number}"])
        store.append_many("orders", [b"table", b"chair"], tags="furniture")
        store.catch_up()  # what was appended so far can now be read

        for message in store.messages("orders"):
            print(message.queue_offset, message.tags, message.body.decode())

        (found,) = store.query("orders", "order-1")
        furniture = store.read("orders", tags="furniture").bodies()
        print("order-1 is", found.body.decode(), "and furniture is", furniture)


if __name__ == "__main__":
    main(sys.argv[1])
