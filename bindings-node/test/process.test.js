'use strict';
// Processes that end: by themselves, by request, by force.

const assert = require('node:assert/strict');
const { once } = require('node:events');
const { test } = require('node:test');
const { open } = require('spanlog');
const { run, start } = require('./child');
const { SMALL, folder } = require('./folder');

test('a process ends with waits pending that shall not keep it alive', async () => {
  const printed = await run(`
    const store = spanlog.open(root);
    store.wait('orders', 0, 0, { persistent: false });
    store.wait('orders', 0, 0, { persistent: false, timeoutMs: 1e9 });
    store.follow('orders', 0, 0, { persistent: false }).next();
    process.on('exit', () => console.log('over'));
  `, folder());
  assert.equal(printed, 'over\n');
});

test('a process ends with every kind of wait pending when it is told to', async () => {
  for (const end of ['process.exit()', 'store.close()', 'controller.abort()']) {
    const printed = await run(`
      const store = spanlog.open(root);
      const controller = new AbortController();
      const { signal } = controller;
      const waits = [
        store.wait('orders', 0, 0, { signal }),
        store.waitAppended(0, { signal }),
        store.follow('orders', 0, 0, { signal }).next(),
      ];
      process.on('exit', () => console.log('over'));
      for (const wait of waits) wait.catch((error) => console.log(error.code));
      setTimeout(() => { ${end}; }, 50);
    `, folder());
    const [code, times] = { p: ['', 0], s: ['SPANLOG_CLOSED\n', 3], c: ['20\n', 3] }[end[0]];
    assert.equal(printed, `${code.repeat(times)}over\n`, end);
  }
});

test('a wait keeps the process alive until it is told', async () => {
  const root = folder();
  const printed = await run(`
    const store = spanlog.open(root);
    const timer = setTimeout(() => store.append({ topic: 'orders', body: 'tea' }), 200);
    timer.unref();
    store.wait('orders', 0, 0).then((answer) => console.log(answer));
  `, root);
  assert.equal(printed, 'true\n');
});

test('a process that throws ends, and its store is whole', async () => {
  const root = folder();
  await assert.rejects(run(`
    const store = spanlog.open(root);
    store.wait('orders', 0, 0);
    store.append({ topic: 'orders', body: 'tea' });
    store.flush();
    throw new Error('enough');
  `, root), /enough/);
  const store = open(root);
  await store.catchUp();
  assert.equal(store.read('orders', 0, 0).at(0).text(), 'tea');
  await store.close();
});

test('what a killed process acknowledged is there', async () => {
  const root = folder();
  for (let round = 0; round < 3; round += 1) {
    const child = start(`
      const store = spanlog.open(root, { segmentLenBytes: 1 << 16, queueFileLenBytes: 2000 });
      const fs = require('node:fs');
      for (;;) {
        const { queueOffset } = store.append({ topic: 'orders', body: 'number ' + process.pid });
        fs.writeSync(1, queueOffset + '\\n');
      }
    `, root);
    let acknowledged = '';
    child.stdout.on('data', (text) => {
      acknowledged += text;
      if (acknowledged.length > 5000) child.kill('SIGKILL');
    });
    const [, signal] = await once(child, 'exit');
    assert.equal(signal, 'SIGKILL');
    const last = BigInt(acknowledged.slice(0, acknowledged.lastIndexOf('\n')).split('\n').at(-1));
    const store = open(root, SMALL);
    assert.equal(store.recovery.wasClean, false);
    assert.ok(store.bounds('orders').max > last, `${store.bounds('orders').max} after ${last}`);
    assert.equal(store.get(store.read('orders', 0, last).at(0).position).text(), `number ${child.pid}`);
    await store.close();
  }
});

test('two processes cannot have one store open', async () => {
  const root = folder();
  const store = open(root);
  const printed = await run(`
    try { spanlog.open(root); } catch (error) { console.log(error.code); }
  `, root);
  assert.equal(printed, 'SPANLOG_LOCKED\n');
  await store.close();
});
