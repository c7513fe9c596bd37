// Waits until messages would survive a loss of power: `node durable.mjs [DIRECTORY]`.

import { open } from 'spanlog';

const store = open(process.argv[2] ?? 'durable-store');

// Those of one moment share a flush, and each is told of its own.
const calls = Array.from({ length: 100 }, (_, number) =>
  store.appendDurable({ topic: 'payments', body: `payment ${number}`, keys: [`payment-${number}`] }));
const receipts = await Promise.all(calls);
console.log(`messages up to ${receipts.at(-1).queueOffset} are durable`);

// All or none of several, with one flush.
const both = ['debit', 'credit'].map((body) => ({ topic: 'bookings', body }));
const { queueOffset } = await store.appendManyDurable(both);
console.log(`both bookings are durable from ${queueOffset} on`);

// Appended now, flushed when it suits.
store.append({ topic: 'payments', body: 'a remark' });
await store.flush();
const { flushed, appended } = store.watermarks();
console.log(`durable up to ${flushed} of ${appended}`);

try {
  await store.appendDurable({ topic: 'payments', body: Buffer.alloc(5 << 20) });
} catch (error) {
  console.log(`refused: ${error.code}, the limit is ${error.limit}`);
}
await store.close();
