// Follows a queue, as `tail -f` does a file: `node tail.mjs DIRECTORY TOPIC [QUEUE] [COUNT]`.
// Ends after so many messages, or with Ctrl-C. To have something to follow, it appends a line a
// second itself where the topic is `demo`.

import { open } from 'spanlog';

const [root = 'tail-store', topic = 'demo', queue = '0', count = 'Infinity'] = process.argv.slice(2);
const store = open(root);

const stop = new AbortController();
process.once('SIGINT', () => stop.abort());

let number = 0;
const writer = topic === 'demo' && setInterval(() => {
  store.append({ topic, queue: Number(queue), body: `line ${number += 1}` });
}, 1000);

let left = Number(count);
const start = store.bounds(topic, Number(queue))?.min ?? 0n;
try {
  for await (const message of store.follow(topic, Number(queue), start, { signal: stop.signal })) {
    console.log(`${message.queueOffset} ${new Date(message.storeMs).toISOString()} ${message.text()}`);
    left -= 1;
    if (left <= 0) break;
  }
} catch (error) {
  if (error.name !== 'AbortError') throw error;
} finally {
  clearInterval(writer);
  await store.close();
}
