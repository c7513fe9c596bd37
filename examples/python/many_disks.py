"""One log over several disks of unequal size, with marks of their own, and what the policy does
when they fill.

    python many_disks.py DIR

The disks are folders of DIR here, told to be fuller than they are by `set_usage`, as a host does
that knows of a quota. Threads would do what `run` does; without them each step can be seen.
"""

import sys

import spanlog
from spanlog import Directory, Thresholds

KIB = 1024


def main(root: str) -> None:
    paths = [
        Directory(f"{root}/small", thresholds=Thresholds(clean=0.5, force=0.6, refuse=0.7)),
        Directory(f"{root}/large"),
    ]
    with spanlog.open(
        f"{root}/store", paths=paths, segment_len_bytes=64 * KIB, background=False
    ) as store:

        def fill(count: int) -> None:
            for number in range(count):
                store.append("logs", bytes(20 * KIB), queue=number % 2)

        def show(title: str) -> None:
            print(title)
            for disk in store.disks():
                name = disk.path.rsplit("/", 1)[1]
                print(f"  {name}: {disk.segments} segments, pressure {disk.pressure}")

        def tell(name: str, percent: int) -> None:
            store.set_usage(f"{root}/{name}", used_bytes=percent, available_bytes=100 - percent)

        tell("small", 40)
        tell("large", 40)
        fill(12)
        show("segments take turns:")
        tell("small", 65)
        fill(12)
        show("small is above its force mark and takes no more:")
        tell("large", 89)
        plan = store.plan_clean()
        print(f"all are above it: {plan.drop} of {len(plan.fates)} segments would go")
        print(f"  the first is {plan.fates[0].text.split(',')[0]}")
        store.run("clean")
        print("the log begins at", store.watermarks().start)


if __name__ == "__main__":
    main(sys.argv[1])
