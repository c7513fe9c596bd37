'use strict';
// Worker threads: one store, a handle for each, and threads that end at any moment.

const assert = require('node:assert/strict');
const { once } = require('node:events');
const { test } = require('node:test');
const { Worker } = require('node:worker_threads');
const { open } = require('spanlog');
const { SMALL, folder } = require('./folder');

/** A worker with a handle of its own on the store. */
function worker(store, code) {
  const prelude = `
    const { parentPort, workerData } = require('node:worker_threads');
    const { attach, open } = require(workerData.package);
    const store = attach(workerData.token);
  `;
  const workerData = { package: require.resolve('spanlog'), token: store.token };
  return new Worker(prelude + code, { eval: true, workerData });
}

test('several threads append to one store and wait for each other', async () => {
  const store = open(folder(), SMALL);
  const workers = [1, 2, 3].map((queue) => worker(store, `
    const tea = { topic: 'orders', queue: ${queue}, body: 'tea' };
    for (let number = 0; number < 500; number += 1) store.append(tea);
    store.wait('orders', 0, 0).then(() => store.close());
  `));
  const exits = workers.map((one) => once(one, 'exit'));
  for (const queue of [1, 2, 3]) assert.ok(await store.wait('orders', queue, 499));
  store.append({ topic: 'orders', body: 'enough' });
  assert.deepEqual((await Promise.all(exits)).flat(), [0, 0, 0]);
  assert.deepEqual(store.queues().map(({ bounds }) => bounds.max), [1n, 500n, 500n, 500n]);
  await store.close();
});

test('a store closes with its last handle, in whichever thread that is', async () => {
  const root = folder();
  const store = open(root, SMALL);
  const last = worker(store, `
    parentPort.once('message', async () => {
      store.append({ topic: 'orders', body: 'tea' });
      await store.close();
      parentPort.postMessage('closed');
    });
    parentPort.postMessage('attached');
  `);
  await once(last, 'message');
  await store.close();
  assert.throws(() => open(root), { code: 'SPANLOG_LOCKED' });
  const closed = once(last, 'message');
  last.postMessage('go on');
  await closed;
  const again = open(root);
  assert.equal(again.recovery.wasClean, true);
  assert.equal(again.bounds('orders').max, 1n);
  await again.close();
});

test('a thread is ended with waits pending, and nobody calls it any more', async () => {
  const store = open(folder(), SMALL);
  for (let round = 0; round < 10; round += 1) {
    const one = worker(store, `
      store.wait('orders', 0, 1000);
      store.waitAppended(1e9);
      store.appendDurable({ topic: 'orders', body: 'tea' });
      parentPort.postMessage('waits');
    `);
    await once(one, 'message');
    const exit = once(one, 'exit');
    store.append({ topic: 'orders', body: 'tea' });
    await Promise.all([one.terminate(), exit]);
    store.append({ topic: 'orders', body: 'tea' });
  }
  await store.close();
  assert.throws(() => open(store.root), { code: 'SPANLOG_CLOSED' });
});

test('opening and closing in two threads at once', async () => {
  const root = folder();
  const race = `
    const results = { opened: 0, locked: 0 };
    for (let round = 0; round < 40; round += 1) {
      try {
        open(workerData.root, { segmentLenBytes: 1 << 16 })[Symbol.dispose]();
        results.opened += 1;
      } catch (error) {
        if (error.code !== 'SPANLOG_LOCKED') throw error;
        results.locked += 1;
      }
    }
    parentPort.postMessage(results);
  `;
  const prelude = `
    const { parentPort, workerData } = require('node:worker_threads');
    const { open } = require(workerData.package);
  `;
  const workerData = { package: require.resolve('spanlog'), root };
  const workers = [1, 2].map(() => new Worker(prelude + race, { eval: true, workerData }));
  const results = await Promise.all(workers.map((one) => once(one, 'message')));
  for (const [{ opened, locked }] of results) assert.equal(opened + locked, 40);
  assert.ok(results.some(([{ opened }]) => opened > 0));
  open(root)[Symbol.dispose]();
});

test('a handle that nobody closed goes with its thread', async () => {
  const root = folder();
  const store = open(root, SMALL);
  await once(worker(store, "store.append({ topic: 'orders', body: 'tea' });"), 'exit');
  await store.close();
  open(root)[Symbol.dispose]();
});
