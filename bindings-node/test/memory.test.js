'use strict';
// Loops whose memory, descriptors and threads must not grow.

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { run } = require('./child');
const { folder } = require('./folder');

/**
 * Runs `body` so many times a round, for eight rounds, and returns by how much memory, descriptors
 * and threads grew in the second half of them.
 */
async function growth(setup, body, times) {
  const printed = await run(`
    const fs = require('node:fs');
    const SMALL = { segmentLenBytes: 1 << 20, queueFileLenBytes: 20_000, prepareBytes: 0 };
    const measure = async () => {
      for (let i = 0; i < 10; i += 1) {
        global.gc();
        await new Promise(setImmediate);
      }
      const status = fs.readFileSync('/proc/self/status', 'utf8');
      const field = (name) => Number(status.match(new RegExp(name + ':\\\\s+(\\\\d+)'))[1]);
      const descriptors = fs.readdirSync('/proc/self/fd').length;
      return [field('RssAnon'), descriptors, field('Threads')];
    };
    (async () => {
      ${setup}
      const body = async () => { ${body} };
      let before;
      for (let round = 0; round < 8; round += 1) {
        for (let i = 0; i < ${times}; i += 1) await body();
        if (round === 3) before = await measure();
      }
      const after = await measure();
      console.log(JSON.stringify(after.map((value, at) => value - before[at])));
      process.exit();
    })();
  `, folder(), { flags: ['--expose-gc'], timeout: 240_000 });
  const [kib, descriptors, threads] = JSON.parse(printed);
  return { kib, descriptors, threads };
}

/** A store that grows has a descriptor for each of its segments. */
function assertSmall({ kib, descriptors, threads }, mostKib, mostDescriptors = 0) {
  assert.ok(kib < mostKib, `${kib} KiB more`);
  assert.ok(descriptors <= mostDescriptors, `${descriptors} descriptors more`);
  assert.ok(threads <= 0, `${threads} threads more`);
}

const OPENED = `
  const store = spanlog.open(root, SMALL);
  const tea = { topic: 'orders', body: 'x'.repeat(200), tags: 'drink', keys: ['k'] };
`;

test('appending leaks nothing', async () => {
  const setup = `${OPENED} const many = Array(50).fill(tea);`;
  const body = `
    for (let i = 0; i < 50; i += 1) store.append(tea);
    store.appendMany(many);
    try { store.append({ topic: 'a/b', body: '' }); } catch {}
  `;
  assertSmall(await growth(setup, body, 300), 6000, 50);
});

test('reading leaks nothing: a million messages', async () => {
  const setup = `${OPENED}
    for (let i = 0; i < 1000; i += 1) store.append(tea);
    await store.catchUp();
  `;
  const body = `
    let bytes = 0;
    for (const message of store.read('orders', 0, 0, { maxMessages: 1000 })) bytes += message.body.length;
    if (bytes !== 200_000) throw new Error('other bytes');
    store.get(0);
    store.read('orders', 0, 1000);
  `;
  assertSmall(await growth(setup, body, 125), 12_000);
});

test('opening and closing leaks nothing, closed or left to the collector', async () => {
  const body = `
    for (let i = 0; i < 3; i += 1) {
      const store = spanlog.open(root, SMALL);
      store.append({ topic: 'orders', body: 'tea' });
      const other = spanlog.attach(store.token);
      await store.wait('orders', 0, 0);
      store.read('orders', 0, 0);
      if (i === 0) await store.close();
      else store[Symbol.dispose]();
      other[Symbol.dispose]();
    }
  `;
  // A handle that stayed would keep blocks of 128 KiB: 22 MiB in four rounds.
  assertSmall(await growth('', body, 15), 14_000);
  const left = `
    (() => { spanlog.open(root, SMALL).append({ topic: 'orders', body: 'tea' }); })();
    for (let i = 0; ; i += 1) {
      global.gc();
      await new Promise(setImmediate);
      try { spanlog.open(root, SMALL)[Symbol.dispose](); break; } catch (error) {
        if (error.code !== 'SPANLOG_LOCKED' || i > 1000) throw error;
      }
    }
  `;
  assertSmall(await growth('', left, 8), 14_000);
});

test('waits leak nothing, however they end', async () => {
  const body = `
    const controller = new AbortController();
    const { signal } = controller;
    const next = store.bounds('orders')?.max ?? 0n;
    const waits = [
      store.wait('orders', 0, next),
      store.wait('orders', 0, next + 9n, { signal }).catch(() => {}),
      store.waitAppended(2n ** 40n, { timeoutMs: 1 }),
    ];
    store.append(tea);
    await Promise.all([waits[0], waits[2]]);
    controller.abort();
    await waits[1];
  `;
  assertSmall(await growth(OPENED, body, 120), 6000, 5);
});

test('cursors leak nothing, polled, waited for, opened and closed', async () => {
  const setup = `${OPENED} let cursor = await store.cursor('billing', 'orders');`;
  const body = `
    const poll = cursor.poll();
    const other = cursor.poll({ timeoutMs: 1 });
    store.append(tea);
    cursor.ack((await poll).at(0));
    await other;
    await cursor.commit();
    const iterator = cursor.messages();
    store.append(tea);
    cursor.ack((await iterator.next()).value);
    await iterator.return();
    await cursor.close();
    cursor = await store.cursor('billing', 'orders');
  `;
  assertSmall(await growth(setup, body, 60), 8000, 5);
});

test('queues leak nothing, pushed to, popped from, opened and closed', async () => {
  const body = `
    const queue = spanlog.openQueue(root + '/queue', { segmentLenBytes: 4096, capacitySegments: 64 });
    const reader = queue.reader();
    const waits = [reader.pop(), reader.pop({ timeoutMs: 1 })];
    for (let i = 0; i < 20; i += 1) queue.push(Buffer.alloc(500));
    await queue.pushAsync('tea');
    await Promise.all(waits);
    for (let i = 0; i < 10; i += 1) reader.popNow();
    reader.commit(reader.popManyNow().at(-1));
    await queue.close();
  `;
  assertSmall(await growth('', body, 20), 10_000);
});

test('durable appends leak nothing', async () => {
  const body = 'await Promise.all(Array.from({ length: 20 }, () => store.appendDurable(tea)));';
  assertSmall(await growth(OPENED, body, 30), 6000, 5);
});
