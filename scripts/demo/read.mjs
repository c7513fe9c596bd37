// Prints the bodies of a topic, a line each: `node read.mjs ROOT TOPIC`.

import { open } from 'spanlog';

const [root, topic] = process.argv.slice(2);
const store = open(root, { readOnly: true });
let batch = store.read(topic, 0, 0);
while (batch.length > 0) {
  for (const message of batch) process.stdout.write(`${message.text()}\n`);
  batch = store.read(topic, 0, batch.next);
}
await store.close();
