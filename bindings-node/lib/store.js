'use strict';
// The store that a program holds.

const { fileURLToPath } = require('node:url');
const binding = require('../binding');
const { batchOf, messageOf } = require('./batch');
const { DurableQueue } = require('./durable');
const { native, nativeAsync, seen, wrongType } = require('./errors');
const { MOST_U32, answerOf, offset, questionOf, whole } = require('./numbers');
const { Packer } = require('./packing');
const verification = require('./verification');
const { Waiting } = require('./waiting');

function pathOf(name, path) {
  if (path instanceof URL) return fileURLToPath(path);
  if (typeof path === 'string') return path;
  throw wrongType(`${name} must be a string or a file URL, not ${typeof path}`);
}

/** Options as the native half takes them. */
function optionsOf(options = {}) {
  if (typeof options !== 'object' || options === null) throw wrongType('options must be an object');
  const { paths } = options;
  if (paths === undefined) return questionOf(options);
  if (!Array.isArray(paths)) throw wrongType('paths must be an array');
  return questionOf({ ...options, paths: paths.map(directoryOf) });
}

function directoryOf(given) {
  if (typeof given === 'string' || given instanceof URL) return pathOf('path', given);
  if (typeof given !== 'object' || given === null) throw wrongType('a path must be a string');
  return { ...given, path: pathOf('path', given.path) };
}

function checkText(name, text) {
  if (typeof text !== 'string') throw wrongType(`${name} must be a string, not ${typeof text}`);
  return text;
}

class Store {
  #native;
  #packer = new Packer();
  #numbers = new BigUint64Array(8);
  #block;
  #calls;
  #durable;
  #waiting;

  constructor(handle) {
    this.#native = handle;
    this.#durable = new DurableQueue(handle);
    this.#waiting = new Waiting(handle);
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
    return this.#durable.append(message);
  }

  async appendManyDurable(messages) {
    return this.#durable.appendMany(messages);
  }

  /** Messages, as `make` makes them of what was found. */
  #find(what, given, make) {
    const question = questionOf(given);
    try {
      return make(this.#calls.find(what, question), this.#calls.fill);
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

  read(topic, queue, from, { tags, maxMessages, maxBytes, verify } = {}) {
    checkText('topic', topic);
    const start = offset('from', from);
    const given = { topic, queue: whole('queue', queue, 0, MOST_U32), from: start };
    return this.#find('read', { ...given, tags, maxMessages, maxBytes, verify }, batchOf);
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
    const isThere = () => this.#ask('isThere', given);
    return this.#waiting.until(topic, number, isThere, options);
  }

  async waitAppended(after, options) {
    const from = offset('after', after);
    const isThere = () => this.#ask('isThere', { from });
    return this.#waiting.until(undefined, undefined, isThere, options);
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

  async verify(options) {
    return verification.run(() => this.#native.verification(), options);
  }

  planClean({ manual = false } = {}) {
    return this.#ask('planClean', { manual });
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
    this.#waiting.close();
    await this.#durable.settled();
    await nativeAsync(() => this.#native.close());
  }

  [Symbol.dispose]() {
    this.#waiting.close();
    native(() => this.#native.closeNow());
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

module.exports = { Store, attach, destroy, open, openAsync, verify };
