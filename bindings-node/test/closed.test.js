'use strict';
// Every method after close answers, and none of them does anything else.

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { Store, attach, open } = require('spanlog');
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
  cleanNow: [],
  run: ['index'],
  flush: [],
  catchUp: [],
  addDirectory: ['/nowhere/at/all'],
  setRole: ['/nowhere/at/all', 'draining'],
  setUsage: ['/nowhere/at/all'],
  removeDirectory: ['/nowhere/at/all'],
};

/** Methods that may be called again. */
const CLOSING = ['close', Symbol.dispose, Symbol.asyncDispose];

/** Calls a method, or reads a property; an async iterator is asked for its first value. */
async function use(store, name) {
  const given = ARGUMENTS[name];
  const found = given === undefined ? store[name] : store[name](...given);
  return found?.[Symbol.asyncIterator] ? found.next() : found;
}

const names = Reflect.ownKeys(Store.prototype).filter((name) => name !== 'constructor');

test('the list below is the list of all methods', () => {
  assert.deepEqual(new Set(names), new Set([...Object.keys(ARGUMENTS), ...CLOSING]));
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
  const { Batch, Message } = require('spanlog');
  for (const Class of [Store, Batch, Message]) {
    assert.throws(() => new Class(), TypeError, Class.name);
  }
});
