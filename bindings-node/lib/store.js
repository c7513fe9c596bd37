'use strict';
// The store that a program holds.

const binding = require('../binding');
const { batchOf, messageOf } = require('./batch');
const { Cursor, seekOf } = require('./cursor');
const { native, nativeAsync, seen, wrongType } = require('./errors');
const { MOST_U32, answerOf, offset, questionOf, whole } = require('./numbers');
const { checkText, directoryOf, optionsOf, pathOf } = require('./options');
const { Packer } = require('./packing');
const { Rounds } = require('./rounds');
const verification = require('./verification');
const { Waiting } = require('./waiting');

class Store {
  #native;
  #packer = new Packer();
  #numbers = new BigUint64Array(8);
  #block;
  #calls;
  #durable;
  #waiting = new Waiting();
  #cursors = new Set();

  constructor(handle) {
    this.#native = handle;
    this.#durable = new Rounds(Packer, (...packed) => this.#native.appendDurable(...packed));
    this.#connect();
  }

  /** Has the native half look at the packer's block, which may be a new one. */
  #connect() {
    const { block } = this.#packer;
    if (block === this.#block) return;
    this.#calls = this.#native.calls(block.bytes, block.words, this.#numbers);
    this.#block = block;
  }

  append(message) {
    this.#packer.begin();
    this.#packer.add(message);
    return this.#append(1);
  }

  appendMany(messages) {
    this.#packer.begin();
    return this.#append(this.#packer.addAll(messages));
  }

  #append(count) {
    if (this.#packer.block !== this.#block) this.#connect();
    try {
      this.#calls.append(count);
    } catch (error) {
      throw seen(error);
    }
    const numbers = this.#numbers;
    return {
      position: numbers[0],
      queueOffset: numbers[1],
      end: numbers[2],
      storeMs: Number(numbers[3]),
    };
  }

  async appendDurable(message) {
    return this.#durable.one(message);
  }

  async appendManyDurable(messages) {
    return this.#durable.many(messages);
  }

  /** Messages, as `make` makes them of what was found. */
  #find(what, given, make) {
    const question = questionOf(given);
    try {
      this.#calls.find(what, question);
      return make(this.#numbers, this.#calls.fill);
    } catch (error) {
      throw seen(error);
    }
  }

  #ask(what, given = {}) {
    const question = questionOf(given);
    return answerOf(native(() => this.#native.ask(what, question)));
  }

  #act(what, given = () => ({})) {
    return nativeAsync(async () => answerOf(await this.#native.act(what, questionOf(given()))));
  }

  read(topic, queue, from, { tags, maxMessages, maxBytes, verify = true } = {}) {
    checkText('topic', topic);
    if (tags !== undefined) checkText('tags', tags);
    if (typeof verify !== 'boolean') throw wrongType(`verify must be a boolean, not ${typeof verify}`);
    const number = whole('queue', queue, 0, MOST_U32);
    const numbers = this.#numbers;
    numbers[0] = offset('from', from);
    numbers[1] = BigInt(whole('maxMessages', maxMessages, 256, MOST_U32));
    numbers[2] = BigInt(whole('maxBytes', maxBytes, 1 << 20));
    numbers[3] = verify ? 1n : 0n;
    try {
      this.#calls.read(topic, number, tags);
      return batchOf(numbers, this.#calls.fill);
    } catch (error) {
      throw seen(error);
    }
  }

  get(position) {
    return this.#find('get', { position: offset('position', position) }, messageOf);
  }

  query(topic, key, { kind, fromMs, toMs, maxMessages, verify } = {}) {
    checkText('topic', topic);
    checkText('key', key);
    const given = { topic, key, kind, fromMs, toMs, maxMessages, verify };
    return this.#find('query', given, batchOf);
  }

  findById(topic, id, { verify } = {}) {
    return this.#find('findById', { topic, id: checkText('id', id), verify }, batchOf);
  }

  offsetAt(topic, queue, timeMs, boundary) {
    return BigInt(this.#ask('offsetAt', { topic, queue, timeMs, boundary }));
  }

  bounds(topic, queue = 0) {
    return this.#ask('bounds', { topic, queue: whole('queue', queue, 0, MOST_U32) });
  }

  watermarks() {
    return this.#ask('watermarks');
  }

  inspect() {
    return this.#ask('inspect');
  }

  disks() {
    return this.#ask('disks');
  }

  queues() {
    return this.#ask('queues');
  }

  segments() {
    return this.#ask('segments');
  }

  dropped() {
    return this.#ask('dropped');
  }

  get recovery() {
    return this.#ask('recovery');
  }

  get root() {
    return this.#ask('root');
  }

  /** What names the store to `attach`, in any thread of this process. */
  get token() {
    return native(() => this.#native.token());
  }

  async wait(topic, queue, from, options) {
    checkText('topic', topic);
    const number = whole('queue', queue, 0, MOST_U32);
    const given = { topic, queue: number, from: offset('from', from) };
    return this.#until(given, [topic, number], options);
  }

  async waitAppended(after, options) {
    return this.#until({ from: offset('after', after) }, [], options);
  }

  #until(given, watched, options) {
    const watch = (notifier, number) => this.#native.watch(notifier, number, ...watched);
    const isMet = () => this.#ask('isThere', given);
    return this.#waiting.until({ watch, isMet }, options);
  }

  async *follow(topic, queue, from, options) {
    const { signal, persistent, ...limits } = options ?? {};
    let next = offset('from', from);
    for (;;) {
      signal?.throwIfAborted();
      const batch = this.read(topic, queue, next, limits);
      for (const message of batch) {
        yield message;
        signal?.throwIfAborted();
      }
      if (batch.next > next) next = batch.next;
      else await this.wait(topic, queue, next, { signal, persistent });
    }
  }

  async cursor(name, topic, options = {}) {
    checkText('name', name);
    checkText('topic', topic);
    const { queues, fromEnd, visibilityMs, maxPending, hold } = options;
    const question = questionOf({ queues, fromEnd, visibilityMs, maxPending, hold });
    const handle = await nativeAsync(() => this.#native.cursor(name, topic, question));
    const left = (cursor) => this.#cursors.delete(cursor);
    const cursor = new Cursor(handle, { name, topic, waiting: this.#waiting, left });
    try {
      this.#ask('root');
    } catch (error) {
      // The store was closed meanwhile.
      cursor[Symbol.dispose]();
      throw error;
    }
    this.#cursors.add(cursor);
    return cursor;
  }

  cursors() {
    return this.#ask('cursors');
  }

  copyCursor(topic, name, to) {
    return this.#act('copyCursor', () => ({ topic, name, to }));
  }

  resetCursor(topic, name, to) {
    return this.#act('resetCursor', () => ({ topic, name, ...seekOf(to) }));
  }

  deleteCursor(topic, name) {
    return this.#act('deleteCursor', () => ({ topic, name }));
  }

  importConsumerOffsets(text) {
    const textOf = () => (text instanceof Uint8Array ? Buffer.from(text).toString() : text);
    return this.#act('importConsumerOffsets', () => ({ text: checkText('text', textOf()) }));
  }

  exportConsumerOffsets() {
    return this.#ask('exportConsumerOffsets');
  }

  async verify(options) {
    return verification.run(() => this.#native.verification(), options);
  }

  planClean({ manual = false } = {}) {
    return this.#ask('planClean', { manual });
  }

  refresh() {
    return this.#ask('refresh');
  }

  cleanNow() {
    this.#ask('cleanNow');
  }

  run(step) {
    return this.#ask('run', { step });
  }

  flush() {
    return this.#act('flush');
  }

  catchUp() {
    return this.#act('catchUp');
  }

  addDirectory(directory) {
    return this.#act('addDirectory', () => ({ directory: directoryOf(directory) }));
  }

  setRole(path, role) {
    return this.#act('setRole', () => ({ path: pathOf('path', path), role }));
  }

  setUsage(path, usage) {
    return this.#act('setUsage', () => ({ ...usage, path: pathOf('path', path) }));
  }

  removeDirectory(path) {
    return this.#act('removeDirectory', () => ({ path: pathOf('path', path) }));
  }

  async close() {
    this.#waiting.close('store');
    const closing = [...this.#cursors].map((cursor) => cursor.close());
    await Promise.all([...closing, this.#durable.settled()])
      .finally(() => nativeAsync(() => this.#native.close()));
  }

  [Symbol.dispose]() {
    this.#waiting.close('store');
    try {
      for (const cursor of [...this.#cursors]) cursor[Symbol.dispose]();
    } finally {
      native(() => this.#native.closeNow());
    }
  }

  [Symbol.asyncDispose]() {
    return this.close();
  }
}

/** Opens the store at `root`, or makes one. Recovery may take seconds: see `openAsync`. */
function open(root, options) {
  return native(() => new Store(binding.open(pathOf('root', root), optionsOf(options))));
}

/** As `open`, without holding up the thread. */
function openAsync(root, options) {
  return nativeAsync(
    async () => new Store(await binding.openAsync(pathOf('root', root), optionsOf(options))),
  );
}

/** A further handle on a store that is open in this process, for a worker thread. */
function attach(token) {
  if (typeof token !== 'number') throw wrongType('token must be a number');
  return native(() => new Store(binding.attach(token)));
}

/** Removes the store at `root`: what it made, and nothing else. */
function destroy(root, options) {
  return nativeAsync(() => binding.destroy(pathOf('root', root), optionsOf(options)));
}

/** Reads and compares everything of the store at `root`, which is not open for writing. */
async function verify(root, { signal, onProgress, ...options } = {}) {
  const start = () => binding.verification(pathOf('root', root), optionsOf(options));
  return verification.run(start, { signal, onProgress });
}

/** What mending the store at `root` takes. */
async function planRepair(root, { signal, onProgress, ...options } = {}) {
  const start = () => binding.verification(pathOf('root', root), optionsOf(options));
  return verification.plan(start, { signal, onProgress });
}

module.exports = { Store, attach, destroy, open, openAsync, planRepair, verify };
