'use strict';
// What is particular to JavaScript; what every language does is told by the scenarios.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { pathToFileURL } = require('node:url');
const { test } = require('node:test');
const { SpanlogError, destroy, open, openAsync, verify } = require('spanlog');
const { SMALL, folder } = require('./folder');

const invalid = (Class) => (error) => {
  assert.ok(error instanceof Class, `${error.name}: ${error.message}`);
  assert.equal(error.code, 'SPANLOG_INVALID');
  return true;
};

test('a message comes back with everything it was given', async () => {
  const store = open(folder(), SMALL);
  const message = {
    topic: 'orders',
    queue: 3,
    body: Buffer.from([0, 1, 255]),
    tags: 'drink',
    keys: ['order-7', 'caf\u00e9', 'customer-4'],
    properties: { region: 'n\u00f6rd', emoji: '\u{1f375}' },
    flag: -5,
    sysFlag: 0x100,
    bornMs: 1_700_000_000_123,
    bornHost: '10.1.2.3:4567',
    reconsumeTimes: 2,
  };
  const receipt = store.append(message);
  await store.catchUp();
  for (const found of [store.read('orders', 3, 0n).at(0), store.get(receipt.position)]) {
    const { topic, queue, body, tags, keys, flag, sysFlag, bornMs, bornHost } = found;
    const { reconsumeTimes } = found;
    const { properties, ...rest } = message;
    assert.deepEqual(
      { topic, queue, body, tags, keys, flag, sysFlag, bornMs, bornHost, reconsumeTimes },
      rest,
    );
    for (const name of Object.keys(properties)) {
      assert.equal(found.properties[name], properties[name]);
    }
    assert.equal(found.position, receipt.position);
    assert.equal(found.queueOffset, receipt.queueOffset);
    assert.equal(found.storeMs, receipt.storeMs);
    assert.equal(BigInt(found.record.length), receipt.end - receipt.position);
    assert.equal(found.storeHost, '127.0.0.1:10911');
    assert.match(found.uniqueId, /^[0-9A-F]{32}$/);
  }
  await store.close();
});

test('every kind of bytes is a body, and text is UTF-8', async () => {
  const store = open(folder(), SMALL);
  const bytes = Uint8Array.from([9, 8, 7, 6, 5, 4, 3, 2]);
  const shared = new Uint8Array(new SharedArrayBuffer(2)).fill(7);
  const rows = [
    [bytes, bytes],
    [bytes.buffer, bytes],
    [bytes.subarray(2, 4), [7, 6]],
    [new DataView(bytes.buffer, 1, 2), [8, 7]],
    [new Uint16Array(bytes.buffer, 2, 1), [7, 6]],
    [shared, [7, 7]],
    ['', []],
    ['\u{1f375}\u00e9a', Buffer.from('\u{1f375}\u00e9a')],
    ['x'.repeat(50_000), Buffer.alloc(50_000, 'x')],
    ['\ud800', Buffer.from('\ufffd')],
  ];
  for (const [body, expected] of rows) {
    const { position } = store.append({ topic: 'orders', body });
    assert.deepEqual([...store.get(position).body], [...expected]);
  }
  for (const body of [undefined, null, 5, {}, [1, 2]]) {
    assert.throws(() => store.append({ topic: 'orders', body }), invalid(TypeError));
  }
  await store.close();
});

test('malformed messages are refused whole: nothing is dropped in silence', async () => {
  const store = open(folder(), SMALL);
  const whole = { topic: 'orders', body: 'tea' };
  const rows = [
    [undefined, TypeError],
    ['tea', TypeError],
    [{ body: 'tea' }, TypeError],
    [{ ...whole, topic: 5 }, TypeError],
    [{ ...whole, tags: 5 }, TypeError],
    [{ ...whole, tags: null }, TypeError],
    [{ ...whole, keys: 'order-7' }, TypeError],
    [{ ...whole, keys: ['order-7', 7] }, TypeError],
    [{ ...whole, keys: ['two words'] }, SpanlogError],
    [{ ...whole, properties: { count: 7 } }, TypeError],
    [{ ...whole, properties: { none: null } }, TypeError],
    [{ ...whole, properties: ['a', 'b'] }, TypeError],
    [{ ...whole, properties: { 'a\x01b': 'c' } }, SpanlogError],
    [{ ...whole, properties: { empty: '' } }, SpanlogError],
    [{ ...whole, queue: '0' }, TypeError],
    [{ ...whole, queue: -1 }, RangeError],
    [{ ...whole, queue: 1.5 }, RangeError],
    [{ ...whole, queue: 2 ** 31 }, SpanlogError],
    [{ ...whole, flag: 2 ** 31 }, RangeError],
    [{ ...whole, bornMs: -1 }, RangeError],
    [{ ...whole, bornMs: NaN }, RangeError],
    [{ ...whole, bornHost: 'nowhere' }, SpanlogError],
    [{ ...whole, preparedPosition: 2 ** 53 }, RangeError],
  ];
  for (const [message, Class] of rows) {
    assert.throws(() => store.append(message), invalid(Class));
    assert.throws(() => store.appendMany([whole, message]), invalid(Class));
    await assert.rejects(store.appendDurable(message), invalid(Class));
    await assert.rejects(store.appendManyDurable([whole, message]), invalid(Class));
  }
  for (const messages of [undefined, 5, 'tea', whole]) {
    assert.throws(() => store.appendMany(messages), invalid(TypeError));
  }
  assert.throws(() => store.appendMany([]), invalid(SpanlogError));
  assert.throws(() => store.appendMany([whole, { ...whole, queue: 1 }]), invalid(SpanlogError));
  assert.equal(store.watermarks().appended, 0n);
  await store.close();
});

test('offsets above 2^53 are exact, and numbers that are not are refused', async () => {
  const store = open(folder(), SMALL);
  store.append({ topic: 'orders', body: 'tea' });
  await store.catchUp();
  for (const from of [2n ** 53n + 1n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 1n]) {
    const batch = store.read('orders', 0, from);
    assert.equal(batch.status, 'too_large');
    assert.equal(batch.next, 1n);
    assert.throws(() => store.get(from), (error) => error.offset === from);
    assert.equal(await store.wait('orders', 0, from, { timeoutMs: 0 }), false);
  }
  for (const from of [0, 0n, Number.MAX_SAFE_INTEGER]) store.read('orders', 0, from);
  for (const from of [2 ** 53, -1, -1n, 2n ** 64n, 0.5, NaN, Infinity]) {
    assert.throws(() => store.read('orders', 0, from), invalid(RangeError), String(from));
    assert.throws(() => store.get(from), invalid(RangeError), String(from));
    await assert.rejects(store.wait('orders', 0, from), invalid(RangeError));
  }
  for (const from of ['0', null, undefined, {}]) {
    assert.throws(() => store.read('orders', 0, from), invalid(TypeError));
  }
  await store.close();
});

test('messages of every size are packed, also into blocks of their own', async () => {
  const store = open(folder(), { segmentLenBytes: 16 << 20, maxBodyBytes: 8 << 20 });
  for (const size of [0, 1, 65_000, 65_536, 200_000, 3 << 20, 6 << 20, 10]) {
    const { position } = store.append({ topic: 'orders', body: Buffer.alloc(size, 'x') });
    assert.equal(store.get(position).body.length, size);
  }
  const many = Array.from({ length: 3000 }, (_, at) => ({ topic: 'orders', body: `${at}` }));
  const receipt = store.appendMany(many);
  await store.catchUp();
  const batch = store.read('orders', 0, receipt.queueOffset, { maxMessages: 5000 });
  assert.deepEqual([...batch].map((message) => message.text()), many.map(({ body }) => body));
  await store.close();
});

test('a batch outlives its store, and views of it outlive the batch', async () => {
  const root = folder();
  const store = open(root, SMALL);
  store.appendMany(['tea', 'cocoa'].map((body) => ({ topic: 'orders', body })));
  await store.catchUp();
  const batch = store.read('orders', 0, 0);
  const { body } = store.read('orders', 0, 1).at(0);
  await store.close();
  await destroy(root);
  assert.deepEqual([...batch].map((message) => message.text()), ['tea', 'cocoa']);
  assert.equal(batch.at(-1).text(), 'cocoa');
  assert.equal(batch.at(2), undefined);
  assert.equal(body.toString(), 'cocoa');
  assert.equal(fs.existsSync(root), false);
});

test('one message read twice is two copies', async () => {
  const store = open(folder(), SMALL);
  store.append({ topic: 'orders', body: 'tea' });
  await store.catchUp();
  const [first, second] = [store.read('orders', 0, 0).at(0), store.read('orders', 0, 0).at(0)];
  first.body[0] = 0x73;
  assert.equal(first.text(), 'sea');
  assert.equal(second.text(), 'tea');
  assert.equal(store.read('orders', 0, 0).at(0).text(), 'tea');
  await store.close();
});

test('messages before a damaged one are read, and it is named', async () => {
  const root = folder();
  const store = open(root, SMALL);
  const [, second] = ['tea', 'cocoa', 'milk'].map((body) => store.append({ topic: 'orders', body }));
  await store.close();
  const segment = path.join(root, 'commitlog', '0'.repeat(20));
  const bytes = fs.readFileSync(segment);
  bytes[Number(second.position) + bytes.subarray(Number(second.position)).indexOf('cocoa')] ^= 1;
  fs.writeFileSync(segment, bytes);
  const again = open(root, SMALL);
  const batch = again.read('orders', 0, 0);
  assert.equal(batch.length, 1);
  assert.equal(batch.next, 1n);
  assert.equal(batch.damage.code, 'SPANLOG_CORRUPT');
  const kinds = (await again.verify()).findings.map(({ kind }) => kind);
  assert.ok(kinds.length > 0);
  const corrupt = { code: 'SPANLOG_CORRUPT', offset: second.position, path: segment };
  assert.throws(() => again.read('orders', 0, 1), corrupt);
  assert.throws(() => again.get(second.position), { code: 'SPANLOG_CORRUPT' });
  assert.equal(again.read('orders', 0, 1, { verify: false }).at(0).text(), 'bocoa');
  assert.equal(again.read('orders', 0, 2).at(0).text(), 'milk');
  await again.close();
});

test('durable appends keep the order of their calls and fail one by one', async () => {
  const store = open(folder(), SMALL);
  const calls = [];
  for (let number = 0; number < 200; number += 1) {
    const topic = number === 77 ? 'not/a/topic' : 'orders';
    const call = store.appendDurable({ topic, body: `${number}` });
    calls.push(Promise.allSettled([call]));
    if (number % 50 === 49) await call;
  }
  const outcomes = (await Promise.all(calls)).flat();
  assert.equal(outcomes[77].reason.code, 'SPANLOG_INVALID');
  assert.equal(outcomes[77].reason.offset, 3n);
  const receipts = outcomes.filter((_, at) => at !== 77).map(({ value }) => value);
  receipts.forEach((receipt, at) => assert.equal(receipt.queueOffset, BigInt(at)));
  assert.ok(store.watermarks().flushed >= receipts.at(-1).end);
  const last = await store.appendManyDurable([{ topic: 'orders', body: 'last' }]);
  assert.equal(last.queueOffset, 199n);
  assert.equal(store.get(receipts[0].position).text(), '0');
  await store.close();
});

test('closing waits for the durable appends that were asked for', async () => {
  const root = folder();
  const store = open(root, { ...SMALL, durability: 'group' });
  const calls = ['tea', 'cocoa'].map((body) => store.appendDurable({ topic: 'orders', body }));
  await store.close();
  assert.equal((await Promise.all(calls)).length, 2);
  const again = await openAsync(root);
  assert.equal(again.recovery.wasClean, true);
  assert.equal(again.bounds('orders').max, 2n);
  await again.close();
});

test('options are checked, and a name that no option has is a mistake', async () => {
  const root = path.join(folder(), 'store');
  const rows = [
    [{ path: ['a'] }, SpanlogError],
    [{ paths: 'a' }, TypeError],
    [{ paths: [5] }, TypeError],
    [{ paths: [{ role: 'draining' }] }, TypeError],
    [{ paths: [{ path: 'a', thresholds: { full: 1 } }] }, SpanlogError],
    [{ paths: [{ path: 'a', role: 'drain' }] }, SpanlogError],
    [{ segmentLenBytes: 100 }, SpanlogError],
    [{ segmentLenBytes: 4096.5 }, SpanlogError],
    [{ segmentLenBytes: 'many' }, SpanlogError],
    [{ segmentLenBytes: NaN }, RangeError],
    [{ retentionMs: -1 }, SpanlogError],
    [{ maxMaps: 2 ** 40 }, SpanlogError],
    [{ durability: 'never' }, SpanlogError],
    [{ durability: { intervalMs: 0 } }, SpanlogError],
    [{ thresholds: { refuse: 0.99 } }, SpanlogError],
    [{ storeHost: 'here' }, SpanlogError],
    [{ readOnly: 'yes' }, SpanlogError],
    [{ readOnly: () => true }, TypeError],
    [5, TypeError],
  ];
  for (const [options, Class] of rows) {
    const told = JSON.stringify(options);
    assert.throws(() => open(root, options), invalid(Class), told);
    await assert.rejects(openAsync(root, options), invalid(Class), told);
  }
  assert.throws(() => open(5), invalid(TypeError));
  assert.equal(fs.existsSync(root), false);
});

test('a store over directories with limits of their own, by path or URL', async () => {
  const home = folder();
  const [a, b, c] = ['a', 'b', 'c'].map((name) => path.join(home, name));
  const thresholds = { clean: 0.5, force: 0.6, refuse: 0.7, floorBytes: 4096, hysteresis: 0.02 };
  const store = open(pathToFileURL(path.join(home, 'root')), {
    ...SMALL,
    paths: [a, { path: pathToFileURL(b), thresholds }],
    placement: 'free-space',
    durability: { intervalMs: 50, bytes: 1 << 20 },
    deleteHours: 'never',
  });
  await store.addDirectory({ path: c, role: 'draining' });
  await store.setRole(c, 'read-write');
  await store.setUsage(a, { usedBytes: 95_000, availableBytes: 5_000 });
  const disks = store.disks();
  assert.deepEqual(disks.map((disk) => disk.path), [a, b, c]);
  assert.equal(disks[0].pressure, 'refuse');
  assert.equal(disks[0].usedRatio, 0.95);
  assert.deepEqual(disks[1].thresholds, thresholds);
  assert.equal(typeof disks[1].device, 'bigint');
  await store.removeDirectory(c);
  await assert.rejects(store.removeDirectory(c), invalid(SpanlogError));
  await assert.rejects(store.setRole(a, 'resting'), invalid(SpanlogError));
  assert.equal(store.inspect().directories.length, 2);
  store.cleanNow();
  assert.equal(store.planClean({ manual: true }).drop, 0);
  await store.close();
});

test('a store goes with the scope that opened it', async () => {
  const root = folder();
  open(root, SMALL)[Symbol.dispose]();
  const store = open(root);
  await store[Symbol.asyncDispose]();
  await store[Symbol.asyncDispose]();
  store[Symbol.dispose]();
  open(root)[Symbol.dispose]();
});

test('errors tell what, where and why, and look like errors', async () => {
  const root = folder();
  const store = open(root, SMALL);
  const locked = { name: 'SpanlogError', code: 'SPANLOG_LOCKED', path: path.join(root, 'lock') };
  assert.throws(() => open(root), locked);
  const large = { topic: 'orders', body: Buffer.alloc(5 << 20) };
  assert.throws(() => store.append(large), { code: 'SPANLOG_TOO_LARGE', limit: 4194304n });
  await assert.rejects(destroy(path.join(root, 'none')), invalid(SpanlogError));
  try {
    store.get(7n);
  } catch (error) {
    assert.ok(error instanceof Error && error instanceof SpanlogError);
    assert.match(error.stack, /^SpanlogError: invalid: .*\n.*\n/);
    assert.match(error.stack, /store\.test\.js/);
  }
  await store.close();
});

test('messages are found by tag, key, id and time', async () => {
  const store = open(folder(), SMALL);
  // The store's clock may be some milliseconds behind.
  const before = Date.now() - 1000;
  for (let number = 0; number < 60; number += 1) {
    const tags = ['drink', 'food', 'none'][number % 3];
    store.append({ topic: 'orders', body: `${number}`, tags, keys: [`order-${number % 10}`] });
  }
  await store.catchUp();
  const bodies = (batch) => [...batch].map((message) => Number(message.text()));
  const drinks = store.read('orders', 0, 0, { tags: 'drink || water', maxMessages: 3 });
  assert.deepEqual(bodies(drinks), [0, 3, 6]);
  assert.equal(store.read('orders', 0, 0, { tags: 'water' }).status, 'no_match');
  assert.deepEqual(bodies(store.query('orders', 'order-7')), [57, 47, 37, 27, 17, 7]);
  assert.deepEqual(bodies(store.query('orders', 'order-7', { maxMessages: 2 })), [57, 47]);
  assert.equal(store.query('orders', 'order-7', { toMs: before - 1 }).length, 0);
  assert.equal(store.query('orders', 'food', { kind: 'tag' }).length, 20);
  const { uniqueId, position } = store.read('orders', 0, 31).at(0);
  assert.equal(store.findById('orders', uniqueId).at(0).position, position);
  assert.equal(store.offsetAt('orders', 0, before), 0n);
  assert.equal(store.offsetAt('orders', 0, Date.now() + 9999), 60n);
  assert.equal(store.offsetAt('orders', 0, Date.now() + 9999, 'upper'), 59n);
  assert.throws(() => store.query('orders', 'a', { kind: 'colour' }), invalid(SpanlogError));
  assert.throws(() => store.query('orders', 7), invalid(TypeError));
  assert.throws(() => store.offsetAt('orders', 0, 0, 'middle'), invalid(SpanlogError));
  await store.close();
});

test('a verification tells how far it is, and can be ended', async () => {
  const root = folder();
  const store = open(root, SMALL);
  for (let number = 0; number < 500; number += 1) {
    store.append({ topic: 'orders', body: Buffer.alloc(1000) });
  }
  await store.catchUp();
  const told = [];
  const found = await store.verify({ onProgress: (progress) => told.push(progress) });
  assert.equal(found.isSound, true);
  assert.equal(found.records, 500);
  assert.ok(told.every(({ part, done, total }) => part && done <= total));
  await assert.rejects(store.verify({ signal: AbortSignal.abort() }), { name: 'AbortError' });
  await store.close();
  const closed = await verify(root, SMALL);
  assert.equal(closed.wasClosed, true);
  assert.deepEqual(closed.range, { start: 0n, end: found.range.end });
  await assert.rejects(verify(root, { none: 1 }), invalid(SpanlogError));
});
