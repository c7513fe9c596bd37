'use strict';
// Cursors: polled, waited for, acknowledged, committed, moved, exchanged.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { test } = require('node:test');
const { setTimeout: sleep } = require('node:timers/promises');
const { Delivery, open } = require('spanlog');
const { run } = require('./child');
const { SMALL, folder } = require('./folder');

const tea = (number, queue = 0) => ({ topic: 'orders', queue, body: `${number}` });
const texts = (delivery) => [...delivery].map((message) => message.text());

/** A store with so many messages in two queues. */
async function filled(count, options = SMALL) {
  const store = open(folder(), options);
  for (let number = 0; number < count; number += 1) store.append(tea(number, number % 2));
  await store.catchUp();
  return store;
}

test('messages are delivered until they are acknowledged, and what was committed stays', async () => {
  const root = folder();
  const store = open(root, SMALL);
  for (let number = 0; number < 10; number += 1) store.append(tea(number));
  await store.catchUp();
  const cursor = await store.cursor('billing', 'orders');
  assert.deepEqual([cursor.name, cursor.topic], ['billing', 'orders']);
  const delivery = cursor.pollNow({ maxMessages: 4 });
  assert.ok(delivery instanceof Delivery);
  assert.deepEqual(texts(delivery), ['0', '1', '2', '3']);
  assert.deepEqual([...delivery].map(({ attempt }) => attempt), [1, 1, 1, 1]);
  assert.deepEqual([delivery.at(-1).queueOffset, delivery.overtaken, delivery.failures], [3n, [], []]);
  cursor.ack(delivery.at(2));
  cursor.ack(delivery.at(2));
  cursor.ackUpTo(0, 2);
  assert.equal(cursor.report().queues[0].acknowledged, 3n);
  assert.equal(cursor.report().queues[0].committed, 0n);
  await cursor.commit();
  const [{ queues: [queue], lag, isOpen, hold }] = store.cursors();
  assert.deepEqual([queue.committed, queue.next, lag.messages, isOpen, hold], [3n, 4n, 7, true, undefined]);
  assert.ok(lag.bytes > 0 && lag.ageMs >= 0);
  assert.deepEqual(cursor.lag().messages, 7);
  assert.ok(cursor.nextDueMs > Date.now());
  await assert.rejects(store.cursor('billing', 'orders'), { code: 'SPANLOG_LOCKED' });
  cursor.ackAt(0, 3n);
  await store.close();
  const again = open(root, SMALL);
  const other = await again.cursor('billing', 'orders');
  assert.deepEqual(texts(other.pollNow()), ['4', '5', '6', '7', '8', '9']);
  assert.equal(other.pollNow().length, 0);
  await again.close();
});

test('what is not acknowledged in time comes again, and a poll waits for it', async () => {
  const store = await filled(1);
  const cursor = await store.cursor('billing', 'orders', { visibilityMs: 30 });
  assert.equal((await cursor.poll()).at(0).attempt, 1);
  assert.equal(cursor.pollNow().length, 0);
  for (const attempt of [2, 3]) {
    const delivery = await cursor.poll();
    assert.deepEqual([delivery.at(0).text(), delivery.at(0).attempt], ['0', attempt]);
  }
  cursor.ackAt(0, 0);
  assert.equal(cursor.nextDueMs, undefined);
  assert.equal((await cursor.poll({ timeoutMs: 50 })).length, 0);
  await store.close();
});

test('a poll is told of messages to come and of room, and ended by signal, timeout and close', async () => {
  const store = open(folder(), SMALL);
  const cursor = await store.cursor('billing', 'orders', { maxPending: 1 });
  assert.equal((await cursor.poll({ timeoutMs: 0 })).length, 0);
  for (let number = 0; number < 100; number += 1) {
    const poll = cursor.poll({ maxMessages: 1 });
    if (number % 2 === 0) await sleep(0);
    store.append(tea(number, 7));
    const delivery = await poll;
    assert.deepEqual(texts(delivery), [`${number}`]);
    // There is no room for another until this one is acknowledged.
    if (number === 50) {
      store.append(tea('more', 7));
      await store.catchUp();
      const next = cursor.poll();
      await sleep(5);
      cursor.ack(delivery.at(0));
      cursor.ack((await next).at(0));
    } else {
      cursor.ack(delivery.at(0));
    }
  }
  const controller = new AbortController();
  const { signal } = controller;
  const aborted = cursor.poll({ signal });
  const reason = new Error('enough');
  controller.abort(reason);
  await assert.rejects(aborted, reason);
  await assert.rejects(cursor.poll({ signal }), reason);
  await assert.rejects(cursor.poll({ timeoutMs: -1 }), { code: 'SPANLOG_INVALID' });
  const [poll, other] = [cursor.poll(), store.wait('orders', 0, 0)];
  const end = assert.rejects(poll, { code: 'SPANLOG_CLOSED' });
  await cursor.close();
  await end;
  store.append(tea('last'));
  assert.equal(await other, true);
  const last = await store.cursor('billing', 'orders');
  assert.deepEqual(texts(await last.poll()), ['last']);
  const over = assert.rejects(last.poll(), { code: 'SPANLOG_CLOSED' });
  await store.close();
  await over;
});

test('going through a cursor gives what was there and what comes', async () => {
  const store = await filled(500);
  const cursor = await store.cursor('billing', 'orders');
  const found = [];
  for await (const message of cursor) {
    found.push(Number(message.text()));
    cursor.ack(message);
    if (found.length === 300) break;
  }
  // What was polled and not taken is not lost.
  const controller = new AbortController();
  const rest = async () => {
    for await (const message of cursor.messages({ signal: controller.signal, maxMessages: 10 })) {
      found.push(Number(message.text()));
      cursor.ack(message);
      if (found.length === 600) controller.abort();
    }
  };
  const end = assert.rejects(rest(), { name: 'AbortError' });
  for (let number = 500; number < 600; number += 1) {
    store.append(tea(number));
    if (number % 20 === 0) await sleep(1);
  }
  await end;
  const all = Array.from({ length: 600 }, (_, at) => at);
  assert.deepEqual(found.toSorted((a, b) => a - b), all);
  assert.equal(cursor.lag().messages, 0);
  await store.close();
});

test('a cursor goes where it is told', async () => {
  const store = await filled(10);
  const cursor = await store.cursor('billing', 'orders', { queues: [0, 5], fromEnd: true });
  assert.equal(cursor.pollNow().length, 0);
  cursor.seek({ queue: 0, offset: 3n });
  assert.deepEqual(texts(cursor.pollNow()), ['6', '8']);
  cursor.seek('start');
  assert.deepEqual(texts(cursor.pollNow({ maxMessages: 2 })), ['0', '2']);
  cursor.seek({ timeMs: 0 });
  assert.equal(cursor.pollNow().length, 5);
  cursor.seek('end');
  assert.equal(cursor.lag().messages, 0);
  assert.throws(() => cursor.seek({ queue: 0, offset: 6 }), { code: 'SPANLOG_INVALID', limit: 5n });
  assert.throws(() => cursor.seek({ queue: 1, offset: 0 }), { code: 'SPANLOG_INVALID' });
  assert.throws(() => cursor.seek('middle'), { code: 'SPANLOG_INVALID' });
  assert.throws(() => cursor.seek(5), TypeError);
  assert.throws(() => cursor.ackAt(0, 6), { code: 'SPANLOG_INVALID' });
  assert.throws(() => cursor.ackAt(3, 0), { code: 'SPANLOG_INVALID' });
  assert.throws(() => cursor.ackAt('0', 0), TypeError);
  assert.throws(() => cursor.ack({ queue: 0, queueOffset: 0n }), TypeError);
  assert.throws(() => cursor.pollNow({ maxMessages: 0 }), { code: 'SPANLOG_INVALID' });
  for (const options of [{ visibilityMs: 0 }, { maxPending: 4000 }, { queues: [-1] }, { hold: 5 }]) {
    await assert.rejects(store.cursor('a', 'orders', options), { code: 'SPANLOG_INVALID' });
  }
  await assert.rejects(store.cursor('a/b', 'orders'), { code: 'SPANLOG_INVALID' });
  await assert.rejects(store.cursor('a'), TypeError);
  await store.close();
});

test('cursors are copied, reset, deleted, and exchanged with RocketMQ', async () => {
  const store = await filled(10);
  const cursor = await store.cursor('billing', 'orders', { hold: { maxAgeMs: 1000 } });
  cursor.pollNow();
  cursor.ackUpTo(0, 2);
  cursor.ackUpTo(1, 5);
  await assert.rejects(store.deleteCursor('orders', 'billing'), { code: 'SPANLOG_LOCKED' });
  await cursor[Symbol.asyncDispose]();
  await store.copyCursor('orders', 'billing', 'other');
  await assert.rejects(store.copyCursor('orders', 'billing', 'other'), { code: 'SPANLOG_INVALID' });
  await store.resetCursor('orders', 'other', { queue: 0, offset: 4 });
  const rows = store.cursors().map(({ name, isOpen, hold, queues }) =>
    [name, isOpen, hold.maxAgeMs, queues.map(({ committed }) => committed)]);
  assert.deepEqual(rows, [['billing', false, 1000, [2n, 5n]], ['other', false, 1000, [4n, 5n]]]);
  const text = store.exportConsumerOffsets();
  await store.deleteCursor('orders', 'other');
  await assert.rejects(store.deleteCursor('orders', 'other'), { code: 'SPANLOG_INVALID' });
  assert.equal(await store.importConsumerOffsets(Buffer.from(text)), 2);
  assert.equal(await store.importConsumerOffsets('{"offsetTable":{"orders@third":{0:1}}}'), 1);
  assert.deepEqual(store.cursors().map(({ name }) => name), ['billing', 'other', 'third']);
  await assert.rejects(store.importConsumerOffsets('{'), { code: 'SPANLOG_INVALID', offset: 1n });
  await assert.rejects(store.importConsumerOffsets(5), TypeError);
  await store.close();
});

test('retention overtakes a cursor: told once, and it goes on', async () => {
  const options = { ...SMALL, segmentLenBytes: 4096, retentionMs: 0, background: false };
  const store = open(folder(), options);
  const one = await store.cursor('one', 'orders');
  const two = await store.cursor('two', 'orders');
  for (let number = 0; number < 100; number += 1) store.append(tea(number));
  await store.catchUp();
  store.cleanNow();
  await sleep(5);
  for (let i = 0; i < 50; i += 1) store.run('clean');
  const { min } = store.bounds('orders');
  assert.ok(min > 0n);
  const delivery = one.pollNow();
  assert.deepEqual(delivery.overtaken, [{ queue: 0, gone: { start: 0n, end: min } }]);
  assert.equal(delivery.at(0).queueOffset, min);
  const gone = { code: 'SPANLOG_GONE', limit: min, range: { start: 0n, end: min } };
  await assert.rejects(two.messages().next(), gone);
  assert.equal((await two.messages().next()).value.queueOffset, min);
  await store.close();
});

test('damaged messages are told beside the others, and can be passed', async () => {
  const root = folder();
  const store = open(root, SMALL);
  const { position } = [0, 1, 2].map((number) => store.append(tea(`body ${number}`)))[1];
  await store.close();
  const file = path.join(root, 'commitlog', '0'.repeat(20));
  const bytes = fs.readFileSync(file);
  const at = bytes.indexOf('body 1');
  assert.ok(at > position);
  bytes.write('BODY', at);
  fs.writeFileSync(file, bytes);
  const again = open(root, { ...SMALL, onDamage: 'skip' });
  const cursor = await again.cursor('billing', 'orders');
  const { length, failures } = cursor.pollNow();
  assert.equal(length, 2);
  assert.deepEqual(failures.map(({ queue, error }) => [queue, error.code]), [[0, 'SPANLOG_CORRUPT']]);
  cursor.seek({ queue: 0, offset: 1 });
  cursor.pollNow({ maxMessages: 1, verify: false });
  cursor.seek({ queue: 0, offset: 1 });
  assert.throws(() => cursor.pollNow({ maxMessages: 1 }), { code: 'SPANLOG_CORRUPT' });
  await again.close();
});

test('a process ends with polls pending, and a killed consumer gets what it did not commit', async () => {
  const root = folder();
  const printed = await run(`
    (async () => {
      const store = spanlog.open(root);
      const queue = spanlog.openQueue(root + '-queue');
      const cursor = await store.cursor('billing', 'orders');
      for (let number = 0; number < 4; number += 1) store.append({ topic: 'orders', body: 'tea' });
      const delivery = await cursor.poll();
      cursor.ackUpTo(0, 1);
      await cursor.commit();
      cursor.ackUpTo(0, delivery.length);
      cursor.poll({ persistent: false, timeoutMs: 1e9 });
      cursor.messages({ persistent: false }).next();
      queue.reader().pop({ persistent: false });
      queue.reader().records({ persistent: false }).next();
      process.on('exit', () => { console.log('over'); process.kill(process.pid, 'SIGKILL'); });
    })();
  `, root).catch(({ stdout, signal }) => [stdout, signal]);
  assert.deepEqual(printed, ['over\n', 'SIGKILL']);
  const store = open(root);
  const cursor = await store.cursor('billing', 'orders');
  const delivery = await cursor.poll();
  assert.equal(delivery.at(0).queueOffset, 1n);
  await store.close();
});
