// A queue between two threads of a program: `node queue.mjs [DIRECTORY] [COUNT]`.
//
// The first pushes measurements faster than the second, which is slow, takes them. What waits lies on
// disk, within a fixed budget; a killed program goes on where the second thread committed last.

import { Worker, isMainThread, workerData } from 'node:worker_threads';
import { setImmediate as turn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { attachQueue, openQueue } from 'spanlog';

async function produce(root, count) {
  const queue = openQueue(root, { capacitySegments: 64, onFull: { blockMs: 10_000 } });
  const { records, readers } = queue.stat();
  console.log(`${records} records are left of the last run, for ${readers.length} readers`);
  const data = { token: queue.token, count: records + count };
  const worker = new Worker(fileURLToPath(import.meta.url), { workerData: data });

  for (let number = 0; number < count; number += 100) {
    const batch = Array.from({ length: Math.min(100, count - number) }, (_, at) =>
      JSON.stringify({ number: number + at, load: Math.random() }));
    await queue.pushManyAsync(batch); // all or none; waits while the queue is full
  }
  const { bytes, mappedSegments, segmentLenBytes } = queue.stat();
  console.log(`pushed ${count}; ${bytes} bytes wait, ${mappedSegments * segmentLenBytes} are mapped`);

  await new Promise((resolve) => { worker.once('exit', resolve); });
  console.log(`${queue.stat().records} records are left`);
  await queue.close();
}

async function consume({ token, count }) {
  const queue = attachQueue(token);
  const reader = queue.reader('averages');
  let [sum, seen] = [0, 0];
  while (seen < count) {
    const records = await reader.popMany({ maxRecords: 50 });
    for (const record of records) sum += JSON.parse(record.text()).load;
    seen += records.length;
    reader.commit(records.at(-1)); // and everything before it: it will not come again
    await turn();
  }
  console.log(`took ${seen}, on average ${(sum / seen).toFixed(1)}`);
  await queue.close();
}

const [root = 'measurements', count = '10000'] = process.argv.slice(2);
if (isMainThread) await produce(root, Number(count));
else await consume(workerData);
