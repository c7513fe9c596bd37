"""The shared scenarios of `tests/scenarios`: what every language must do, told once. The format
is in the README there."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

import spanlog
from conftest import PROJECT

FOLDER = PROJECT / "tests" / "scenarios"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))

Step = dict[str, Any]


def integer(value: int | str) -> int:
    return int(value)


def body(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytes):
        return value
    return (
        bytes.fromhex(value["hex"]) if "hex" in value else value["fill"].encode() * value["bytes"]
    )


def difference(expected: Any, found: Any, at: str) -> str | None:
    """Where what was found is not what was expected."""
    if at.endswith(".body"):
        same = found is not None and body(expected) == body(found)
    elif isinstance(expected, dict) and isinstance(found, dict):
        rows = ((name, value, found.get(name)) for name, value in expected.items())
        return next(filter(None, (difference(a, b, f"{at}.{name}") for name, a, b in rows)), None)
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        pairs = enumerate(zip(expected, found, strict=True))
        return next(filter(None, (difference(a, b, f"{at}[{row}]") for row, (a, b) in pairs)), None)
    elif isinstance(found, int) and not isinstance(found, bool) and isinstance(expected, str):
        same = integer(expected) == found
    else:
        same = type(expected) is type(found) and expected == found
    return None if same else f"{at}: expected {expected!r}, found {found!r}"


class World:
    """A scenario's folder, its open stores, and what each operation does with them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.stores: dict[str, spanlog.Store] = {}
        self.cursors: dict[str, spanlog.Cursor] = {}
        self.queues: dict[str, spanlog.Queue] = {}

    def step(self, step: Step) -> None:
        operation: Callable[[Step], Any] = getattr(self, "op_" + step["op"])
        if "error" not in step:
            found = operation(step)
            assert difference(step.get("expect", {}), found or {}, "expect") is None, difference(
                step["expect"], found or {}, "expect"
            )
            return
        with pytest.raises(spanlog.SpanlogError) as caught:
            operation(step)
        error = caught.value
        place = {"offset": error.offset, "limit": error.limit, "path": self.relative(error.path)}
        assert difference(step["error"], {"code": error.kind, **place}, "error") is None

    def relative(self, path: str | None) -> str | None:
        return path and path.removeprefix(f"{self.folder}/")

    def store(self, step: Step) -> spanlog.Store:
        return self.stores[step.get("store", "main")]

    def place(self, given: Any) -> Any:
        if isinstance(given, str):
            return self.folder / given
        marks = given.get("thresholds")
        thresholds = spanlog.Thresholds(**marks) if marks else None
        return spanlog.Directory(self.folder / given["path"], given.get("role"), thresholds)

    def options(self, given: Step) -> dict[str, Any]:
        options: dict[str, Any] = {"background": False, **given}
        if "directories" in options:
            options["paths"] = [self.place(path) for path in options.pop("directories")]
        if "thresholds" in options:
            options["thresholds"] = spanlog.Thresholds(**options["thresholds"])
        if isinstance(options.get("durability"), dict):
            limits = options.pop("durability")
            options["flush_interval_ms"], options["flush_bytes"] = (
                limits["interval_ms"],
                limits["bytes"],
            )
        whole = {
            name for name, value in options.items() if isinstance(value, str) and value.isdigit()
        }
        return options | {name: integer(options[name]) for name in whole - {"delete_hours"}}

    # What the runner does by itself.

    def op_write_file(self, step: Step) -> None:
        path = self.folder / step["path"]
        path.parent.mkdir(parents=True, exist_ok=True)
        content = bytearray(integer(step.get("bytes", 0)))
        for part in step.get("parts", []):
            at, some = integer(part["at"]), bytes.fromhex(part["hex"])
            content[at : at + len(some)] = some
        path.write_bytes(content)

    def op_patch_file(self, step: Step) -> None:
        with (self.folder / step["path"]).open("r+b") as file:
            file.seek(integer(step["at"]))
            file.write(bytes.fromhex(step["hex"]))

    def op_remove_file(self, step: Step) -> None:
        (self.folder / step["path"]).unlink()

    # What stores do.

    def op_open(self, step: Step) -> None:
        options = self.options(step.get("options", {}))
        self.stores[step.get("store", "main")] = spanlog.open(self.folder / step["root"], **options)

    def op_destroy(self, step: Step) -> None:
        paths = self.options(step.get("options", {})).get("paths")
        spanlog.destroy(self.folder / step["root"], paths=paths)

    def op_verify(self, step: Step) -> Step:
        paths = self.options(step.get("options", {})).get("paths")
        found = spanlog.verify(self.folder / step["root"], paths=paths)
        return {
            "sound": found.is_sound,
            "records": found.records,
            "findings": len(found.findings),
            "was_closed": found.was_closed,
        }

    def op_repair(self, step: Step) -> Step:
        paths = self.options(step.get("options", {})).get("paths")
        plan = spanlog.plan_repair(self.folder / step["root"], paths=paths)
        actions = [action.action for action in plan.actions]
        return {"actions": actions, "saved": len(plan.apply().saved)}

    def op_refresh(self, step: Step) -> Step:
        return {"news": self.store(step).refresh()}

    def op_close(self, step: Step) -> None:
        self.store(step).close()

    def append(self, step: Step, durable: bool) -> Step:
        given = step.get("messages", [step["message"]] if "message" in step else [])
        queues = {(message["topic"], message["queue"]) for message in given}
        if len(queues) > 1:
            # One call names one queue, so this mistake cannot be made.
            assert step["error"] == {"code": "invalid"}
            raise spanlog.InvalidError("several queues")
        topic, queue = queues.pop() if queues else ("orders", 0)
        drafts = [
            spanlog.Draft(
                body(message["body"]),
                tags=message.get("tags"),
                keys=message.get("keys"),
                properties=message.get("properties"),
                flag=message.get("flag", 0),
                sys_flag=message.get("sys_flag", 0),
                born_ms=message.get("born_ms"),
            )
            for message in given
        ]
        store = self.store(step)
        if "message" in step:
            receipt = store.append(topic, drafts[0], queue=integer(queue), durable=durable)
        else:
            receipt = store.append_many(topic, drafts, queue=integer(queue), durable=durable)
        names = ("position", "queue_offset", "end", "store_ms")
        return {name: getattr(receipt, name) for name in names}

    def op_append(self, step: Step) -> Step:
        return self.append(step, durable=False)

    def op_append_durable(self, step: Step) -> Step:
        return self.append(step, durable=True)

    op_append_batch = op_append
    op_append_batch_durable = op_append_durable

    def op_catch_up(self, step: Step) -> None:
        self.store(step).catch_up()

    def op_flush(self, step: Step) -> None:
        self.store(step).flush()

    def op_clean_now(self, step: Step) -> None:
        self.store(step).clean_now()

    def op_run(self, step: Step) -> None:
        for _ in range(step.get("times", 1)):
            self.store(step).run(step["task"])

    def message(self, message: spanlog.Message) -> Step:
        names = (
            "topic",
            "queue",
            "queue_offset",
            "position",
            "body",
            "tags",
            "keys",
            "properties",
            "unique_id",
            "flag",
            "sys_flag",
            "born_ms",
            "born_host",
            "store_ms",
            "reconsume_times",
        )
        return {name: getattr(message, name) for name in names}

    def batch(self, batch: spanlog.Batch) -> Step:
        messages = [self.message(message) for message in batch]
        bounds = batch.bounds._asdict()
        return {"status": batch.status, "next": batch.next, "messages": messages, **bounds}

    def op_read(self, step: Step) -> Step:
        names = ("max_messages", "max_bytes", "tags")
        keywords = {name: step[name] for name in names if name in step}
        place = (step["topic"], step["queue"], integer(step["from"]))
        return self.batch(self.store(step).read(*place, **keywords))

    op_read_filtered = op_read

    def op_query(self, step: Step) -> Step:
        limits = {"max_messages": step.get("max_messages", 32)}
        return self.batch(self.store(step).query(step["topic"], step["key"], **limits))

    def op_find_by_id(self, step: Step) -> Step:
        return self.batch(self.store(step).find_by_id(step["topic"], step["id"]))

    def op_offset_at(self, step: Step) -> Step:
        place = {"time_ms": integer(step["time_ms"]), "boundary": step.get("boundary", "lower")}
        return {"offset": self.store(step).offset_at(step["topic"], step["queue"], **place)}

    def op_wait(self, step: Step) -> Step:
        place = (step["topic"], step["queue"], integer(step["from"]))
        return {"told": self.store(step).wait(*place, timeout=step["timeout_ms"] / 1000)}

    def op_get(self, step: Step) -> Step:
        return self.message(self.store(step).get(integer(step["position"])))

    def op_bounds(self, step: Step) -> Step:
        bounds = self.store(step).bounds(step["topic"], step["queue"])
        return bounds._asdict() if bounds else {"none": True}

    def op_queues(self, step: Step) -> Step:
        rows = self.store(step).queues()
        return {
            "queues": [{"topic": r.topic, "queue": r.queue, **r.bounds._asdict()} for r in rows]
        }

    def op_watermarks(self, step: Step) -> Step:
        return asdict(self.store(step).watermarks())

    def op_segments(self, step: Step) -> Step:
        rows = [asdict(segment) for segment in self.store(step).segments()]
        return {"segments": [{**row, "path": self.relative(row["path"])} for row in rows]}

    def op_disks(self, step: Step) -> Step:
        rows = [asdict(disk) for disk in self.store(step).disks()]
        changes = [
            {"path": self.relative(r["path"]), "offline": r["offline"] is not None} for r in rows
        ]
        return {"directories": [row | change for row, change in zip(rows, changes, strict=True)]}

    def op_recovery(self, step: Step) -> Step:
        report = self.store(step).recovery()
        counts = {"skipped": len(report.skipped), "offline": len(report.offline)}
        return asdict(report) | counts | {"torn": report.torn_tail is not None}

    def op_plan_clean(self, step: Step) -> Step:
        plan = self.store(step).plan_clean(manual=step.get("manual", False))
        return {"fates": [asdict(fate) for fate in plan.fates]}

    def op_set_usage(self, step: Step) -> None:
        figures = {name: step.get(name) for name in ("used_bytes", "available_bytes")}
        self.store(step).set_usage(self.folder / step["path"], **figures)

    def op_set_role(self, step: Step) -> None:
        self.store(step).set_role(self.folder / step["path"], step["role"])

    def op_add_directory(self, step: Step) -> None:
        self.store(step).add_directory(self.place(step["directory"]))

    def op_remove_directory(self, step: Step) -> None:
        self.store(step).remove_directory(self.folder / step["path"])

    # What cursors do.

    def cursor(self, step: Step) -> spanlog.Cursor:
        return self.cursors[step.get("cursor", "main")]

    def op_open_cursor(self, step: Step) -> None:
        options = step.get("options", {})
        opened = self.store(step).cursor(step["name"], step["topic"], **options)
        self.cursors[step.get("cursor", "main")] = opened

    def op_poll(self, step: Step) -> Step:
        limits = {name: step[name] for name in ("max_messages", "max_bytes") if name in step}
        found = self.cursor(step).poll(timeout=step.get("timeout_ms", 0) / 1000, **limits)
        assert found.failures == []
        rows = [{**self.message(row), "attempt": row.attempt} for row in found.messages]
        gone = [
            {"queue": row.queue, "from": row.gone.start, "to": row.gone.stop}
            for row in found.overtaken
        ]
        return {"messages": rows, "overtaken": gone}

    def op_ack(self, step: Step) -> None:
        self.cursor(step).ack_at(step["queue"], step["offset"])

    def op_ack_up_to(self, step: Step) -> None:
        self.cursor(step).ack_up_to(step["queue"], step["end"])

    def op_commit(self, step: Step) -> None:
        self.cursor(step).commit()

    def seek(self, step: Step) -> Step:
        return {name: step[name] for name in ("to", "queue", "offset", "time_ms") if name in step}

    def op_seek(self, step: Step) -> None:
        self.cursor(step).seek(**self.seek(step))

    def op_lag(self, step: Step) -> Step:
        return asdict(self.cursor(step).lag())

    def op_report(self, step: Step) -> Step:
        names = ("queue", "acknowledged", "committed", "next")
        rows = self.cursor(step).report().queues
        return {
            "queues": [
                {name: getattr(row, name) for name in names}
                | row.bounds._asdict()
                | {"lag": row.lag.messages}
                for row in rows
            ]
        }

    def op_close_cursor(self, step: Step) -> None:
        self.cursor(step).close()

    def op_cursors(self, step: Step) -> Step:
        rows = [
            {
                "topic": report.topic,
                "name": report.name,
                "is_open": report.is_open,
                "lag": sum(queue.lag.messages for queue in report.queues),
            }
            for report in self.store(step).cursors()
        ]
        return {"cursors": rows}

    def op_copy_cursor(self, step: Step) -> None:
        self.store(step).copy_cursor(step["topic"], step["name"], step["copy"])

    def op_reset_cursor(self, step: Step) -> None:
        self.store(step).reset_cursor(step["topic"], step["name"], **self.seek(step))

    def op_delete_cursor(self, step: Step) -> None:
        self.store(step).delete_cursor(step["topic"], step["name"])

    def op_import_offsets(self, step: Step) -> Step:
        return {"count": self.store(step).import_consumer_offsets(step["text"].encode())}

    def op_export_offsets(self, step: Step) -> Step:
        return {"text": self.store(step).export_consumer_offsets()}

    # What queues do.

    def queue(self, step: Step) -> spanlog.Queue:
        return self.queues[step.get("handle", "main")]

    def reader(self, step: Step) -> spanlog.QueueReader:
        return self.queue(step).reader(step.get("reader", "default"))

    def op_queue_open(self, step: Step) -> None:
        options = {"background": False, **step.get("options", {})}
        if isinstance(options.get("on_full"), dict):
            options["on_full"] = options["on_full"]["block_ms"] / 1000
        opened = spanlog.Queue(self.folder / step["root"], **options)
        self.queues[step.get("handle", "main")] = opened

    def op_queue_close(self, step: Step) -> None:
        self.queue(step).close()

    def op_queue_flush(self, step: Step) -> None:
        self.queue(step).flush()

    def op_queue_push(self, step: Step) -> Step:
        return {"end": self.queue(step).push(body(step["body"]))}

    def op_queue_push_many(self, step: Step) -> Step:
        return {"end": self.queue(step).push_many([body(given) for given in step["bodies"]])}

    def records(self, records: list[spanlog.QueueRecord]) -> Step:
        return {
            "records": [
                {
                    "body": bytes(record),
                    "number": record.number,
                    "position": record.position,
                    "end": record.end,
                }
                for record in records
            ]
        }

    def op_queue_pop(self, step: Step) -> Step:
        limits = {"max_records": step.get("max_messages", 256)}
        timeout = step.get("timeout_ms", 0) / 1000
        return self.records(self.reader(step).pop_many(timeout=timeout, **limits))

    def op_queue_peek(self, step: Step) -> Step:
        found = self.reader(step).peek()
        return self.records([] if found is None else [found])

    def op_queue_commit(self, step: Step) -> None:
        self.reader(step).commit_to(step["end"])

    def op_queue_rewind(self, step: Step) -> None:
        self.reader(step).rewind()

    def op_queue_wait(self, step: Step) -> Step:
        # Waiting is popping here: what came is given back.
        reader = self.reader(step)
        before = reader.backlog()[0]
        told = before > 0 or reader.pop(timeout=step["timeout_ms"] / 1000) is not None
        if told and before == 0:
            reader.rewind()
        return {"told": told}

    def op_queue_remove_reader(self, step: Step) -> None:
        self.queue(step).remove_reader(step["reader"])

    def op_queue_stat(self, step: Step) -> Step:
        return asdict(self.queue(step).stat())


def play(steps: list[Step], folder: Path) -> None:
    world = World(folder)
    try:
        for number, step in enumerate(steps):
            try:
                world.step(step)
            except BaseException as error:
                error.add_note(f"step {number}: {json.dumps(step)[:500]}")
                raise
    finally:
        for queue in world.queues.values():
            queue.close()
        for store in world.stores.values():
            store.close()


@pytest.mark.parametrize("name", NAMES)
def test_scenario(name: str, tmp_path: Path) -> None:
    play(json.loads((FOLDER / f"{name}.json").read_text())["steps"], tmp_path)


def test_there_are_scenarios() -> None:
    assert len(NAMES) >= 15


@pytest.mark.parametrize(
    "wrong",
    [{"expect": {"queue_offset": 1}}, {"expect": {"offset": 0}}, {"error": {"code": "invalid"}}],
)
def test_a_wrong_expectation_is_found(wrong: Step, tmp_path: Path) -> None:
    message = {"topic": "t", "queue": 0, "body": "b"}
    steps = [{"op": "open", "root": "s"}, {"op": "append", "message": message}]
    play(steps, tmp_path / "right")
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        play([steps[0], steps[1] | wrong], tmp_path / "wrong")
