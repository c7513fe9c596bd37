// A work queue with retries: `node jobs.mjs [DIRECTORY]`.
//
// Workers share a cursor. A job that was not acknowledged within the visibility time is delivered
// again, with its attempts counted; after the third it goes to a topic of its own.

import { open } from 'spanlog';

const ATTEMPTS = 3;
const [root = 'jobs-store'] = process.argv.slice(2);
const store = open(root);
const cursor = await store.cursor('workers', 'jobs', { visibilityMs: 50 });
const stop = new AbortController();
const done = [];

async function work(job, attempt) {
  if (job === 'broken' || (job === 'flaky' && attempt < ATTEMPTS)) throw new Error('it did not work');
  return job.toUpperCase();
}

async function worker() {
  for await (const job of cursor.messages({ signal: stop.signal })) {
    try {
      done.push(await work(job.text(), job.attempt));
    } catch (error) {
      if (job.attempt < ATTEMPTS) continue; // it comes again
      const properties = { reason: error.message };
      await store.appendDurable({ topic: 'failed', body: job.body, properties });
    }
    cursor.ack(job);
  }
}

const workers = Array.from({ length: 4 }, () => worker().catch((error) => {
  if (error.name !== 'AbortError') throw error;
}));
const jobs = ['wash', 'flaky', 'dry', 'broken', 'fold'];
await Promise.all(jobs.map((body, at) => store.appendDurable({ topic: 'jobs', queue: at % 2, body })));

await store.wait('failed', 0, 0); // the broken one has given up
while (cursor.lag().messages > 0) await store.waitAppended(store.watermarks().appended, { timeoutMs: 10 });
stop.abort();
await Promise.all(workers);
await cursor.commit(); // what was acknowledged will not come again
const failed = store.read('failed', 0, 0).at(0);
console.log(`done: ${done.sort().join(', ')}`);
console.log(`failed: ${failed.text()} because ${failed.properties.reason}`);
await store.close();
