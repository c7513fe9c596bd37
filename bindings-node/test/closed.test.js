'use strict';
// Every method after close answers, and none of them does anything else.

const assert = require('node:assert/strict');
const { test } = require('node:test');
const {
  Cursor, Queue, QueueReader, Store, attach, attachQueue, open, openQueue,
} = require('spanlog');
const { SMALL, folder } = require('./folder');

const tea = { topic: 'orders', body: 'tea' };

/** Arguments with which a method would succeed on an open store. */
const ARGUMENTS = {
  append: [tea],
  appendMany: [[tea]],
  appendDurable: [tea],
  appendManyDurable: [[tea]],
  read: ['orders', 0, 0],
  get: [0n],
  query: ['orders', 'key'],
  findById: ['orders', 'id'],
  offsetAt: ['orders', 0, 0],
  bounds: ['orders', 0],
  wait: ['orders', 0, 0],
  waitAppended: [0],
  follow: ['orders', 0, 0],
  cursor: ['billing', 'orders'],
  cursors: [],
  copyCursor: ['orders', 'billing', 'other'],
  resetCursor: ['orders', 'billing', 'start'],
  deleteCursor: ['orders', 'billing'],
  importConsumerOffsets: ['{}'],
  exportConsumerOffsets: [],
  watermarks: [],
  inspect: [],
  disks: [],
  queues: [],
  segments: [],
  dropped: [],
  recovery: undefined,
  root: undefined,
  token: undefined,
  verify: [],
  planClean: [],
  refresh: [],
  cleanNow: [],
  run: ['index'],
  flush: [],
  catchUp: [],
  addDirectory: ['/nowhere/at/all'],
  setRole: ['/nowhere/at/all', 'draining'],
  setUsage: ['/nowhere/at/all'],
  removeDirectory: ['/nowhere/at/all'],
};

const CURSOR = {
  nextDueMs: undefined,
  poll: [],
  pollNow: [],
  messages: [],
  [Symbol.asyncIterator]: [],
  ackAt: [0, 0],
  ackUpTo: [0, 0],
  commit: [],
  seek: ['end'],
  lag: [],
  report: [],
};

const QUEUE = {
  root: undefined,
  recovery: undefined,
  token: undefined,
  push: ['tea'],
  pushMany: [['tea']],
  pushAsync: ['tea'],
  pushManyAsync: [['tea']],
  reader: [],
  removeReader: ['default'],
  stat: [],
  flush: [],
  verify: [],
  run: ['flush'],
};

const READER = {
  pop: [],
  popNow: [],
  popMany: [],
  popManyNow: [],
  peek: [],
  records: [],
  [Symbol.asyncIterator]: [],
  commitTo: [0],
  rewind: [],
  backlog: [],
  skipDamaged: [],
};

/** Methods that may be called again. */
const CLOSING = ['close', Symbol.dispose, Symbol.asyncDispose];

/** Calls a method, or reads a property; an async iterator is asked for its first value. */
async function use(store, name, all = ARGUMENTS) {
  const given = all[name];
  const found = given === undefined ? store[name] : store[name](...given);
  return found?.[Symbol.asyncIterator] ? found.next() : found;
}

test('the lists above are the lists of all methods', () => {
  const rows = [
    [Store, ARGUMENTS, CLOSING],
    [Cursor, CURSOR, [...CLOSING, 'name', 'topic', 'ack']],
    [Queue, QUEUE, CLOSING],
    [QueueReader, READER, ['name', 'commit']],
  ];
  for (const [Class, all, others] of rows) {
    const names = Reflect.ownKeys(Class.prototype).filter((name) => name !== 'constructor');
    assert.deepEqual(new Set(names), new Set([...Reflect.ownKeys(all), ...others]), Class.name);
  }
});

async function assertClosed(opened, all) {
  for (const name of Reflect.ownKeys(all)) {
    await assert.rejects(use(opened, name, all), { code: 'SPANLOG_CLOSED' }, String(name));
  }
}

test('every method of a closed cursor says so, closed alone or with its store', async () => {
  for (const close of CLOSING) {
    const store = open(folder(), SMALL);
    store.append(tea);
    await store.catchUp();
    const [one, two] = [await store.cursor('one', 'orders'), await store.cursor('two', 'orders')];
    const [message] = one.pollNow();
    two.pollNow();
    await one[close]();
    assert.deepEqual(store.cursors().map(({ isOpen }) => isOpen), [false, true]);
    await store[close]();
    for (const cursor of [one, two]) {
      await assertClosed(cursor, CURSOR);
      assert.throws(() => cursor.ack(message), { code: 'SPANLOG_CLOSED' });
      for (const again of CLOSING) await cursor[again]();
      assert.equal(cursor.topic, 'orders');
    }
  }
});

test('every method of a closed queue and its readers says so', async () => {
  for (const close of CLOSING) {
    const queue = openQueue(folder());
    const { token } = queue;
    const other = attachQueue(token);
    queue.push('tea');
    const reader = queue.reader();
    const record = reader.peek();
    await queue[close]();
    await assertClosed(queue, QUEUE);
    await assertClosed(reader, READER);
    assert.throws(() => reader.commit(record), { code: 'SPANLOG_CLOSED' });
    for (const again of CLOSING) await queue[again]();
    assert.equal(other.reader().popNow().text(), 'tea');
    await other.close();
    assert.throws(() => attachQueue(token), { code: 'SPANLOG_CLOSED' });
  }
});

test('every method of a closed store says that it is closed', async () => {
  const store = open(folder(), SMALL);
  const { token } = store;
  await store.close();
  for (const name of Object.keys(ARGUMENTS)) {
    await assert.rejects(use(store, name), { code: 'SPANLOG_CLOSED' }, name);
  }
  for (const name of CLOSING) await store[name]();
  assert.throws(() => attach(token), { code: 'SPANLOG_CLOSED' });
});

test('a closed handle is closed while another one goes on', async () => {
  const store = open(folder(), SMALL);
  const other = attach(store.token);
  await store.close();
  for (const name of Object.keys(ARGUMENTS)) {
    await assert.rejects(use(store, name), { code: 'SPANLOG_CLOSED' }, name);
  }
  other.append(tea);
  await other.catchUp();
  assert.equal(other.read('orders', 0, 0).at(0).text(), 'tea');
  await other.close();
});

test('the classes cannot be made by hand', () => {
  const { SpanlogError, ...all } = require('spanlog');
  const classes = Object.values(all).filter((it) => Reflect.has(it, 'prototype') && /^[A-Z]/.test(it.name));
  assert.equal(classes.length, 9);
  for (const Class of classes) assert.throws(() => new Class(), TypeError, Class.name);
});
