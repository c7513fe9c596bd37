"""crossing.py write|read ROOT: see README.md here."""

import sys

import spanlog

do, root = sys.argv[1:]
with spanlog.open(root, segment_len_bytes=4096) as store:
    for number in range(8) if do == "write" else ():
        draft = spanlog.Draft(
            bytes((7 * at + number) % 256 for at in range(40 * number * number)),
            tags=f"t{number}" if number % 2 == 0 else None,
            keys=[f"k{number}", "all"],
            properties={"region": f"north-{number}"},
            flag=number - 3,
        )
        store.append("orders", draft, queue=number % 2)
    for queue in range(2) if do == "read" else ():
        for message in store.messages("orders", queue):
            place = (message.queue, message.queue_offset, message.flag)
            words = (message.tags or "-", ",".join(message.keys), message.properties["region"])
            print(*place, *words, message.body.hex())
