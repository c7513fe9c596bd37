"""A work queue with retries: workers share a cursor, and a job that fails comes again by itself.

    python work_queue.py DIR

A job that was not acknowledged within the visibility time is delivered again, with its attempts
counted; after the third it goes to a topic of its own. A worker that dies loses nothing.
"""

import sys
import threading

import spanlog

ATTEMPTS = 3


def work(job: bytes, attempt: int) -> str:
    if job == b"broken" or (job == b"flaky" and attempt < ATTEMPTS):
        raise RuntimeError("it did not work")
    return job.decode().upper()


def worker(store: spanlog.Store, cursor: spanlog.Cursor, done: list[str]) -> None:
    for job in cursor:  # waits for jobs, until the store or the cursor is closed
        try:
            done.append(work(job.body, job.attempt))
        except RuntimeError as error:
            if job.attempt < ATTEMPTS:
                continue  # it comes again
            store.append("failed", job.body, properties={"reason": str(error)})
        cursor.ack(job)


def main(root: str) -> None:
    with spanlog.open(root, segment_len_bytes=1 << 20) as store:
        cursor = store.cursor("workers", "jobs", visibility_ms=50)
        done: list[str] = []
        threads = [threading.Thread(target=worker, args=(store, cursor, done)) for _ in range(4)]
        for thread in threads:
            thread.start()
        jobs = [b"wash", b"flaky", b"dry", b"broken", b"fold"]
        for number, job in enumerate(jobs):
            store.append("jobs", job, queue=number % 2, durable=True)

        store.wait("failed")  # the broken one has given up
        while cursor.lag().messages:
            store.wait_appended(store.watermarks().appended, timeout=0.01)
        cursor.close()  # commits, and ends the workers
        for thread in threads:
            thread.join()
        (failed,) = store.messages("failed")
        print("done:", ", ".join(sorted(done)))
        print("failed:", failed.body.decode(), "because", failed.properties["reason"])


if __name__ == "__main__":
    main(sys.argv[1])
