'use strict';
// The store that a program holds.

const { fileURLToPath } = require('node:url');
const binding = require('../binding');
const { batchOf, messageOf } = require('./batch');
const { DurableQueue } = require('./durable');
const { native, nativeAsync, seen, wrongType } = require('./errors');
const { MOST_U32, offset, whole } = require('./numbers');
const { Packer } = require('./packing');
const { Waiting } = require('./waiting');

/** Where in a scratch block the topic of a read begins: words stand before it. */
const TOPIC_AT = 16;

function pathOf(name, path) {
  if (path instanceof URL) return fileURLToPath(path);
  if (typeof path === 'string') return path;
  throw wrongType(`${name} must be a string or a file URL, not ${typeof path}`);
}

/** Options as the native half takes them; a name that no option has is a mistake. */
function optionsOf(options = {}) {
  if (typeof options !== 'object' || options === null) throw wrongType('options must be an object');
  for (const name of Object.keys(options)) {
    if (!OPTIONS.has(name)) throw wrongType(`there is no option ${name}`);
  }
  if (options.paths === undefined) return options;
  if (!Array.isArray(options.paths)) throw wrongType('paths must be an array');
  return { ...options, paths: options.paths.map(directoryOf) };
}

function directoryOf(given) {
  if (typeof given === 'string' || given instanceof URL) return pathOf('path', given);
  if (typeof given !== 'object' || given === null) throw wrongType('a path must be a string');
  return { ...given, path: pathOf('path', given.path) };
}

const OPTIONS = new Set([
  'paths', 'placement', 'segmentLenBytes', 'queueFileLenBytes', 'durability', 'thresholds',
  'cleanOn', 'forceOn', 'refuseOn', 'retentionMs', 'deleteHours', 'forcedClean',
  'maxForcedPerRound', 'cleanPauseMs', 'probeIntervalMs', 'cleanIntervalMs',
  'refuseReadsWhenFull', 'recordChecksum', 'maxBodyBytes', 'storeHost', 'maxMaps', 'onDamage',
  'allowOffline', 'adopt', 'readOnly', 'create', 'checkpointIntervalMs', 'prepareBytes',
  'background',
]);

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

  read(topic, queue, from, options) {
    if (typeof topic !== 'string') throw wrongType('topic must be a string');
    const start = offset('from', from);
    this.#packer.begin();
    if (this.#packer.block !== this.#block) this.#connect();
    const { bytes, words } = this.#block;
    if (topic.length > 1000) throw wrongType('topic is longer than a topic can be');
    words[0] = bytes.utf8Write(topic, TOPIC_AT);
    words[1] = whole('queue', queue, 0, MOST_U32);
    words[2] = whole('maxMessages', options?.maxMessages, 256, MOST_U32);
    words[3] = options?.verify === false ? 0 : 1;
    this.#numbers[0] = start;
    this.#numbers[1] = BigInt(whole('maxBytes', options?.maxBytes, 1 << 20));
    try {
      this.#calls.read();
      return batchOf(this.#numbers, this.#calls.fill);
    } catch (error) {
      throw seen(error);
    }
  }

  get(position) {
    this.#numbers[0] = offset('position', position);
    return native(() => {
      this.#calls.get();
      return messageOf(this.#numbers, this.#calls.fill);
    });
  }

  bounds(topic, queue = 0) {
    return native(() => this.#native.bounds(topic, whole('queue', queue, 0, MOST_U32))) ?? undefined;
  }

  watermarks() {
    return native(() => this.#native.watermarks());
  }

  inspect() {
    return native(() => this.#native.inspect());
  }

  disks() {
    return native(() => this.#native.disks());
  }

  queues() {
    return native(() => this.#native.queues());
  }

  segments() {
    return native(() => this.#native.segments());
  }

  dropped() {
    return native(() => this.#native.dropped());
  }

  get recovery() {
    return native(() => this.#native.recovery());
  }

  get root() {
    return native(() => this.#native.root());
  }

  /** What names the store to `attach`, in any thread of this process. */
  get token() {
    return native(() => this.#native.token());
  }

  async wait(topic, queue, from, options) {
    if (typeof topic !== 'string') throw wrongType('topic must be a string');
    const number = whole('queue', queue, 0, MOST_U32);
    const start = offset('from', from);
    const isThere = () => native(() => this.#native.isThere(topic, number, start));
    return this.#waiting.until(topic, number, isThere, options);
  }

  async waitAppended(after, options) {
    const start = offset('after', after);
    const isThere = () => native(() => this.#native.isThere(undefined, 0, start));
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

  planClean({ manual = false } = {}) {
    return native(() => this.#native.planClean(manual));
  }

  cleanNow() {
    native(() => this.#native.cleanNow());
  }

  run(step) {
    return native(() => this.#native.run(step));
  }

  flush() {
    return nativeAsync(() => this.#native.flush());
  }

  catchUp() {
    return nativeAsync(() => this.#native.catchUp());
  }

  addDirectory(directory) {
    return nativeAsync(() => {
      const given = directoryOf(directory);
      return this.#native.addDirectory(typeof given === 'string' ? { path: given } : given);
    });
  }

  setRole(path, role) {
    return nativeAsync(() => this.#native.setRole(pathOf('path', path), role));
  }

  setUsage(path, usage) {
    return nativeAsync(() => {
      const { usedBytes, availableBytes } = usage ?? {};
      return this.#native.setUsage(pathOf('path', path), usedBytes, availableBytes);
    });
  }

  removeDirectory(path) {
    return nativeAsync(() => this.#native.removeDirectory(pathOf('path', path)));
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

module.exports = { Store, attach, destroy, open, openAsync };
