"""Writes each line of a file as a message: `write.py ROOT TOPIC FILE`."""

import sys

import spanlog

root, topic, path = sys.argv[1:]
with spanlog.open(root) as store, open(path, "rb") as lines:
    receipt = store.append_many(topic, lines.read().splitlines(), tags="python", durable=True)
    print(f"Python {sys.version.split()[0]}: appended up to position {receipt.end}")
