'use strict';
// Queue mode: push, pop, commit, readers, a full queue, threads, kills.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { once } = require('node:events');
const { after, test } = require('node:test');
const { setTimeout: sleep } = require('node:timers/promises');
const { Worker } = require('node:worker_threads');
const { QueueRecord, attachQueue, open, openQueue, openQueueAsync } = require('spanlog');
const { start } = require('./child');
const { folder } = require('./folder');

const TINY = { segmentLenBytes: 4096, capacitySegments: 4 };

const queues = [];
after(() => Promise.all(queues.map((queue) => queue.close())));

/** A queue that is closed at the end. */
function closing(queue) {
  queues.push(queue);
  return queue;
}

const texts = (records) => records.map((record) => record.text());

test('records are popped until they are committed', async () => {
  const root = folder();
  const queue = openQueue(root);
  const ends = [queue.push('tea'), queue.pushMany(['milk', Buffer.from('sugar'), new Uint8Array(3)])];
  const reader = queue.reader();
  assert.equal(reader.name, 'default');
  const first = reader.popNow();
  assert.ok(first instanceof QueueRecord);
  assert.deepEqual([first.text(), first.number, first.end], ['tea', 0n, ends[0]]);
  reader.commit(first);
  assert.deepEqual(texts(reader.popManyNow({ maxRecords: 2 })), ['milk', 'sugar']);
  assert.deepEqual(texts(await reader.popMany()), ['\0\0\0']);
  assert.equal(reader.popNow(), undefined);
  assert.equal(await reader.pop({ timeoutMs: 5 }), undefined);
  assert.deepEqual(await reader.popMany({ timeoutMs: 0 }), []);
  const { records, readers, end, dropped } = queue.stat();
  assert.deepEqual([records, readers[0].name, readers[0].records, end, dropped],
    [3, 'default', 3, ends[1], 0]);
  await queue.close();
  const again = closing(await openQueueAsync(new URL(`file://${root}`)));
  assert.deepEqual([again.recovery.wasClean, again.root], [true, root]);
  const other = again.reader();
  assert.equal(other.peek().text(), 'milk');
  assert.equal(other.backlog().records, 3);
  assert.equal(other.popManyNow().length, 3);
  other.rewind();
  assert.equal(other.popManyNow({ maxBytes: 5 }).length, 1);
  assert.equal(other.popManyNow().length, 2);
  other.commitTo(ends[1]);
  assert.equal(again.stat().records, 0);
  assert.throws(() => other.commitTo(ends[1] + 1n), { code: 'SPANLOG_INVALID' });
  assert.throws(() => other.commit({ end: ends[1] }), TypeError);
  assert.throws(() => again.push(5), TypeError);
  assert.throws(() => again.pushMany('tea'), TypeError);
  assert.throws(() => other.popManyNow({ maxRecords: 0 }), RangeError);
});

test('bodies of every size come back, one by one and together', async () => {
  const queue = closing(openQueue(folder(), { segmentLenBytes: 4096, maxRecordBytes: 1 << 20 }));
  const reader = queue.reader();
  const bodies = [0, 1, 3, 4, 100, 4095, 4096, 70_000, 1 << 20].map((size) => Buffer.alloc(size, `${size}`));
  for (const body of bodies) queue.push(body);
  queue.pushMany(bodies);
  await queue.pushAsync('text');
  const found = reader.popManyNow({ maxRecords: 100, maxBytes: 1 << 30 });
  assert.equal(found.length, 2 * bodies.length + 1);
  [...bodies, ...bodies].forEach((body, at) => assert.ok(found[at].body.equals(body), `${at}`));
  assert.equal(found.at(-1).number, 18n);
  assert.throws(() => queue.push(Buffer.alloc((1 << 20) + 1)), { code: 'SPANLOG_TOO_LARGE' });
  const bytes = bodies.reduce((sum, body) => sum + body.length, 0);
  assert.equal((await queue.verify()).payloadBytes, 2 * bytes + 4);
});

test('a pop is told of records to come, and ended by signal and close', async () => {
  const queue = openQueue(folder());
  const reader = queue.reader();
  for (let number = 0; number < 300; number += 1) {
    const pop = reader.pop();
    if (number % 3 === 0) await sleep(0);
    queue.push(`${number}`);
    const record = await pop;
    assert.equal(record.text(), `${number}`);
    reader.commit(record);
  }
  const controller = new AbortController();
  const reason = new Error('enough');
  const aborted = reader.pop({ signal: controller.signal });
  controller.abort(reason);
  await assert.rejects(aborted, reason);
  const [record] = queue.push('again') && reader.popManyNow();
  const pop = reader.pop();
  reader.rewind();
  assert.equal((await pop).end, record.end);
  const gone = queue.reader('gone');
  gone.popManyNow();
  const removed = assert.rejects(gone.pop(), { code: 'SPANLOG_CLOSED' });
  queue.removeReader('gone');
  await removed;
  for (const close of ['close', Symbol.dispose]) {
    const other = openQueue(folder());
    const pops = [other.reader().pop(), other.reader('a').popMany(), other.reader().records().next()];
    const ends = pops.map((it) => assert.rejects(it, { code: 'SPANLOG_CLOSED' }));
    await other[close]();
    await Promise.all(ends);
  }
  await queue.close();
});

test('going through a reader gives what was there and what comes', async () => {
  const queue = closing(openQueue(folder()));
  for (let number = 0; number < 100; number += 1) queue.push(`${number}`);
  const found = [];
  const reader = queue.reader();
  const consume = async () => {
    for await (const record of reader) {
      found.push(Number(record.text()));
      reader.commit(record);
      if (found.length === 200) break;
    }
  };
  const consumer = consume();
  for (let number = 100; number < 200; number += 1) {
    queue.push(`${number}`);
    if (number % 10 === 0) await sleep(1);
  }
  await consumer;
  assert.deepEqual(found, Array.from({ length: 200 }, (_, at) => at));
  assert.equal(queue.stat().records, 0);
});

test('readers have places of their own, and the slowest holds the space', async () => {
  const queue = closing(openQueue(folder()));
  const [one, two] = [queue.reader('one'), queue.reader('two')];
  queue.push('tea');
  one.commit(one.popNow());
  assert.equal(two.popNow().text(), 'tea');
  assert.equal(queue.stat().records, 1);
  queue.removeReader('two');
  assert.throws(() => two.popNow(), { code: 'SPANLOG_CLOSED' });
  assert.equal(queue.stat().readers.length, 1);
  for (const name of ['', 'a b', 'x'.repeat(25)]) {
    assert.throws(() => queue.reader(name), { code: 'SPANLOG_INVALID' });
  }
  assert.throws(() => queue.reader(5), TypeError);
});

const fill = (queue, times) => {
  for (let i = 0; i < times; i += 1) queue.push(Buffer.alloc(1000));
};

test('a full queue does what it was told', async () => {
  const refusing = closing(openQueue(folder(), TINY));
  const kept = refusing.reader();
  assert.throws(() => fill(refusing, 100), { code: 'SPANLOG_FULL' });
  const before = refusing.stat().records;
  assert.throws(() => refusing.pushMany(Array(8).fill(Buffer.alloc(1000))), { code: 'SPANLOG_FULL' });
  assert.equal(refusing.stat().records, before);
  kept.commit(kept.popManyNow().at(-1));
  fill(refusing, 3);

  const dropping = closing(openQueue(folder(), { ...TINY, onFull: 'drop-oldest' }));
  const reader = dropping.reader();
  fill(dropping, 100);
  assert.ok(dropping.stat().dropped > 0);
  await assert.rejects(reader.pop(), { code: 'SPANLOG_GONE' });
  assert.equal((await reader.pop()).body.length, 1000);

  const blocking = openQueue(folder(), { ...TINY, onFull: { blockMs: 60_000 } });
  const slow = blocking.reader();
  const pushes = Array.from({ length: 100 }, (_, number) => blocking.pushAsync(`${number} ${' '.repeat(1000)}`));
  for (let number = 0; number < 100; number += 1) {
    const record = await slow.pop();
    assert.equal(parseInt(record.text(), 10), number);
    slow.commit(record);
  }
  const ends = await Promise.all(pushes);
  assert.deepEqual(ends, ends.toSorted((a, b) => Number(a - b)));
  await blocking.close();
  const impatient = closing(openQueue(folder(), { ...TINY, onFull: { blockMs: 5 } }));
  impatient.reader();
  const outcomes = await Promise.allSettled(Array.from({ length: 30 }, () => impatient.pushAsync(Buffer.alloc(1000))));
  const failed = outcomes.filter(({ status }) => status === 'rejected');
  assert.ok(failed.length > 0 && failed.every(({ reason }) => reason.code === 'SPANLOG_FULL'));
  await assert.rejects(impatient.pushManyAsync([Buffer.alloc(20_000)]), { code: 'SPANLOG_TOO_LARGE' });
});

test('options out of range make no queue', () => {
  const wrong = [
    { onFull: 'wait' }, { onFull: {} }, { durability: 'async' }, { capacitySegments: 1 }, { capacity: 1 },
    { segmentLenBytes: 5000 }, { paths: 'a' }, { thresholds: { clean: 2 } },
  ];
  for (const options of wrong) {
    assert.throws(() => openQueue(folder(), options), { code: 'SPANLOG_INVALID' }, JSON.stringify(options));
  }
  const root = folder();
  assert.throws(() => openQueue(root, { create: false }), { name: 'SpanlogError' });
  open(root)[Symbol.dispose]();
  assert.throws(() => openQueue(root), { code: 'SPANLOG_INVALID' });
});

test('every durability and a queue without threads hold what was pushed', async () => {
  const several = ['none', 'interval', 'group', 'each', { intervalMs: 5, records: 3 }];
  for (const durability of several) {
    const [root, more] = [folder(), folder()];
    const queue = openQueue(root, { durability, paths: [more, path.join(root, 'own')], background: false });
    await Promise.all([queue.pushAsync('tea'), queue.pushAsync('milk'), queue.pushManyAsync(['a', 'b'])]);
    assert.ok(['again', 'soon', 'idle'].includes(queue.run('prepare')) || queue.run('prepare') >= 0);
    await queue.flush();
    const { flushed, end } = queue.stat();
    assert.equal(flushed, end);
    assert.deepEqual(texts(queue.reader().popManyNow()), ['tea', 'milk', 'a', 'b']);
    assert.deepEqual(await queue.verify(), { isSound: true, records: 4, payloadBytes: 9, damaged: [] });
    await queue.close();
  }
});

test('damage is told, and passed over when that is asked for', async () => {
  const root = folder();
  const queue = openQueue(root);
  queue.pushMany(['the first', 'the second', 'the third']);
  await queue.close();
  const segments = path.join(root, 'segments');
  const file = path.join(segments, fs.readdirSync(segments).find((name) => /\d/.test(name)));
  const bytes = fs.readFileSync(file);
  bytes.write('THE', bytes.indexOf('the second'));
  fs.writeFileSync(file, bytes);
  const again = closing(openQueue(root));
  const { isSound, records, damaged } = await again.verify();
  assert.deepEqual([isSound, records, damaged.length, damaged[0].path], [false, 2, 1, file]);
  const reader = again.reader();
  assert.deepEqual(texts(reader.popManyNow()), ['the first']);
  await assert.rejects(reader.pop(), { code: 'SPANLOG_CORRUPT', path: file });
  assert.deepEqual(reader.skipDamaged(), damaged[0].range);
  assert.equal(reader.skipDamaged(), undefined);
  assert.deepEqual(texts(await reader.popMany()), ['the third']);
});

test('one thread pushes and another one pops', async () => {
  const queue = openQueue(folder());
  const workerData = { package: require.resolve('spanlog'), token: queue.token };
  const worker = new Worker(`
    const { workerData } = require('node:worker_threads');
    const { attachQueue } = require(workerData.package);
    (async () => {
      const queue = attachQueue(workerData.token);
      for (let number = 0; number < 2000; number += 1) {
        queue.push(String(number));
        if (number % 100 === 0) await new Promise(setImmediate);
      }
      queue.reader('other').pop({ persistent: false });
    })();
  `, { eval: true, workerData });
  const exit = once(worker, 'exit');
  const reader = queue.reader();
  for (let number = 0; number < 2000; number += 1) {
    const record = await reader.pop();
    assert.equal(record.text(), `${number}`);
    reader.commit(record);
  }
  assert.deepEqual(await exit, [0]);
  const other = attachQueue(queue.token);
  await queue.close();
  assert.equal(other.push('last') > 0n, true);
  other[Symbol.dispose]();
  assert.throws(() => attachQueue(-1), { code: 'SPANLOG_CLOSED' });
  assert.throws(() => attachQueue('1'), TypeError);
});

test('what a killed process pushed is there, from the last commit on', async () => {
  const root = folder();
  const child = start(`
    const queue = spanlog.openQueue(root);
    const fs = require('node:fs');
    const reader = queue.reader();
    for (let number = 0; ; number += 1) {
      queue.push('number ' + number);
      if (number === 100) reader.commit(reader.popManyNow({ maxRecords: 50 }).at(-1));
      fs.writeSync(1, number + '\\n');
    }
  `, root);
  let acknowledged = '';
  child.stdout.on('data', (text) => {
    acknowledged += text;
    if (acknowledged.length > 5000) child.kill('SIGKILL');
  });
  await once(child, 'exit');
  const last = Number(acknowledged.slice(0, acknowledged.lastIndexOf('\n')).split('\n').at(-1));
  const queue = closing(openQueue(root));
  assert.equal(queue.recovery.wasClean, false);
  const found = texts(queue.reader().popManyNow({ maxRecords: 1e6 }));
  assert.equal(found[0], 'number 50');
  assert.ok(found.length + 49 >= last, `${found.length} after ${last}`);
});
