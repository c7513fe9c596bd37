'use strict';
// Waits: told, timed out, aborted, closed.

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { stat } = require('node:fs/promises');
const { setTimeout: sleep } = require('node:timers/promises');
const { open } = require('spanlog');
const { SMALL, folder } = require('./folder');

const tea = (number = 0) => ({ topic: 'orders', body: `${number}` });

test('a wait is told of a queue to come, of the log, and again and again', async () => {
  const store = open(folder(), SMALL);
  assert.equal(await store.wait('orders', 0, 0, { timeoutMs: 0 }), false);
  assert.equal(await store.waitAppended(0, { timeoutMs: 5 }), false);
  for (let number = 0; number < 300; number += 1) {
    const waits = [store.wait('orders', 0, number), store.waitAppended(store.watermarks().appended)];
    if (number % 2 === 0) await sleep(0);
    store.append(tea(number));
    assert.deepEqual(await Promise.all(waits), [true, true]);
    assert.ok(store.bounds('orders').max > number);
  }
  assert.equal(await store.wait('orders', 0, 7), true);
  await store.close();
});

test('a wait for an offset far ahead sleeps through what comes before it', async () => {
  const store = open(folder(), SMALL);
  let isOver = false;
  const wait = store.wait('orders', 0, 50n).then((answer) => {
    isOver = true;
    return answer;
  });
  for (let number = 0; number < 50; number += 1) {
    store.append(tea(number));
    await store.catchUp();
    await sleep(1);
    assert.equal(isOver, false);
  }
  store.append(tea());
  assert.equal(await wait, true);
  await store.close();
});

test('a signal and a timeout end a wait, and leave nothing behind', async () => {
  const store = open(folder(), SMALL);
  const controller = new AbortController();
  const { signal } = controller;
  const waits = Array.from({ length: 5 }, () => store.wait('orders', 0, 0, { signal }));
  assert.equal(await store.wait('orders', 0, 0, { timeoutMs: 10, signal }), false);
  const reason = new Error('enough');
  controller.abort(reason);
  for (const wait of waits) await assert.rejects(wait, reason);
  await assert.rejects(store.wait('orders', 0, 0, { signal }), reason);
  await assert.rejects(store.wait('orders', 0, 0, { signal: {} }), { code: 'SPANLOG_INVALID' });
  await assert.rejects(store.wait('orders', 0, 0, { timeoutMs: -1 }), { code: 'SPANLOG_INVALID' });
  const timeout = store.wait('orders', 0, 0, { signal: AbortSignal.timeout(5) });
  await assert.rejects(timeout, { name: 'TimeoutError' });
  store.append(tea());
  assert.equal(await store.wait('orders', 0, 0), true);
  await store.close();
});

test('closing ends every wait at once', async () => {
  for (const close of ['close', Symbol.dispose]) {
    const store = open(folder(), SMALL);
    const waits = [store.wait('orders', 0, 0), store.waitAppended(0), store.wait('a', 1, 2)];
    const follow = store.follow('orders', 0, 0).next();
    const ends = [...waits, follow].map((it) => assert.rejects(it, { code: 'SPANLOG_CLOSED' }));
    await sleep(5);
    await store[close]();
    await Promise.all(ends);
  }
});

test('following gives what was there, what comes, and ends with the signal', async () => {
  const store = open(folder(), SMALL);
  for (let number = 0; number < 1000; number += 1) store.append(tea(number));
  const controller = new AbortController();
  const found = [];
  const follow = async () => {
    for await (const message of store.follow('orders', 0, 10, { signal: controller.signal })) {
      found.push(Number(message.text()));
      if (found.length === 1490) controller.abort();
    }
  };
  const end = assert.rejects(follow(), { name: 'AbortError' });
  for (let number = 1000; number < 1500; number += 1) {
    store.append(tea(number));
    if (number % 100 === 0) await sleep(2);
  }
  await end;
  assert.deepEqual(found, Array.from({ length: 1490 }, (_, at) => at + 10));
  for await (const message of store.follow('orders', 0, 1499)) {
    assert.equal(message.text(), '1499');
    break;
  }
  await store.close();
});

test('a thousand waits are all told, and files can be read meanwhile', async () => {
  const store = open(folder(), SMALL);
  const waits = Array.from({ length: 1000 }, (_, at) => store.wait('orders', at % 50, 0));
  await stat('.');
  for (let queue = 0; queue < 50; queue += 1) store.append({ ...tea(), queue });
  assert.deepEqual(new Set(await Promise.all(waits)), new Set([true]));
  await store.close();
});
