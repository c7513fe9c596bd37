"""Never run: what a type checker must accept, and with `ignore` what it must refuse."""

import spanlog


def use() -> None:
    paths: list[str | spanlog.Directory] = ["/mnt/a", spanlog.Directory("/mnt/b", role="draining")]
    with spanlog.open("store", paths=paths, durability="group") as store:
        receipt: spanlog.Receipt = store.append("orders", bytearray(b"x"), keys=("a", "b"))
        store.append_many("orders", (spanlog.Draft(b"x", tags="t"), memoryview(b"y")))
        for message in store.read("orders", 0, receipt.queue_offset):
            text: str | None = message.tags
            view: memoryview = memoryview(message)
            print(text, view.nbytes)
        bounds = store.bounds("orders")
        if bounds is not None:
            print(bounds.max - bounds.min)
        spanlog.open("store", placement="random")  # type: ignore[arg-type]
        store.append("orders", "text")  # type: ignore[arg-type]
        store.run("sweep")  # type: ignore[arg-type]
