// Appends messages and reads them back: `node quickstart.mjs [DIRECTORY]`.

import { open } from 'spanlog';

const store = open(process.argv[2] ?? 'quickstart-store');

store.append({ topic: 'orders', body: 'tea', tags: 'drink', keys: ['order-1'] });
const coffee = store.append({ topic: 'orders', body: 'coffee', tags: 'drink' });
console.log(`coffee is message ${coffee.queueOffset} at ${coffee.position}`);
store.appendMany(['cocoa', 'milk'].map((body) => ({ topic: 'orders', body, tags: 'drink' })));

// What was appended so far can now be read from its queue.
await store.catchUp();
const batch = store.read('orders', 0, 0);
for (const message of batch) {
  console.log(`${message.queueOffset}: ${message.text()} [${message.tags}]`);
}
console.log(`read on at ${batch.next}`);
await store.close();
