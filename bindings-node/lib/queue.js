'use strict';
// Queue mode: one persistent queue, and its readers.

const { inspect } = require('node:util');
const binding = require('../binding');
const { blockOf } = require('./batch');
const { native, nativeAsync, seen, wrongType } = require('./errors');
const { MOST_U32, answerOf, offset, questionOf, whole } = require('./numbers');
const { checkText, optionsOf, pathOf } = require('./options');
const { RecordPacker } = require('./packing');
const { Rounds } = require('./rounds');
const { Waiting } = require('./waiting');

/** 64-bit numbers of a row; `src/queue.rs` says which. */
const ROW = 4;

/** One record, cut out of the block it was popped with. */
class QueueRecord {
  #block;
  #row;

  constructor(block, row) {
    if (block?.longs === undefined) throw wrongType('records come from readers alone');
    this.#block = block;
    this.#row = row;
  }

  get number() {
    return this.#block.longs[this.#row];
  }

  get end() {
    return this.#block.longs[this.#row + 1];
  }

  get position() {
    return this.#block.longs[this.#row + 3];
  }

  get body() {
    const { bytes, words } = this.#block;
    const start = words[2 * this.#row + 4];
    return bytes.subarray(start, start + words[2 * this.#row + 5]);
  }

  text() {
    return this.body.toString();
  }

  [inspect.custom]() {
    const { number, position, end, body } = this;
    return { number, position, end, body };
  }
}

/** A reader of a queue, with a place of its own. */
class QueueReader {
  #native;
  #name;
  #waiting;

  constructor(handle, name, waiting) {
    if (waiting === undefined) throw wrongType('readers come from queues alone');
    this.#native = handle;
    this.#name = name;
    this.#waiting = waiting;
  }

  get name() {
    return this.#name;
  }

  /** What the native half popped, as records. */
  #records(pop) {
    try {
      const { count, bytes } = pop();
      const records = [];
      if (count === 0) return records;
      const block = blockOf(ROW, count, bytes);
      this.#native.fill(block.longs, block.bytes);
      for (let row = 0; row < ROW * count; row += ROW) records.push(new QueueRecord(block, row));
      return records;
    } catch (error) {
      throw seen(error);
    }
  }

  popManyNow({ maxRecords, maxBytes } = {}) {
    const most = whole('maxRecords', maxRecords, 256, MOST_U32, 1);
    const bytes = whole('maxBytes', maxBytes, 1 << 20, MOST_U32);
    return this.#records(() => this.#native.pop(most, bytes));
  }

  popNow() {
    return this.#records(() => this.#native.pop(1, 0))[0];
  }

  async popMany({ timeoutMs, signal, persistent, ...limits } = {}) {
    let records;
    const isMet = () => {
      records = this.popManyNow(limits);
      return records.length > 0;
    };
    const watch = (notifier, number) => this.#native.watch(notifier, number);
    await this.#waiting.until({ watch, isMet }, { timeoutMs, signal, persistent });
    return records;
  }

  async pop({ timeoutMs, signal, persistent } = {}) {
    return (await this.popMany({ timeoutMs, signal, persistent, maxRecords: 1 }))[0];
  }

  peek() {
    return this.#records(() => this.#native.peek())[0];
  }

  commit(record) {
    if (!(record instanceof QueueRecord)) throw wrongType('commit takes a record that was popped');
    native(() => this.#native.commit(record.end));
  }

  commitTo(end) {
    const position = offset('end', end);
    native(() => this.#native.commit(position));
  }

  #ask(what) {
    return answerOf(native(() => this.#native.ask(what)));
  }

  rewind() {
    this.#ask('rewind');
    this.#waiting.lookAgain();
  }

  backlog() {
    return this.#ask('backlog');
  }

  skipDamaged() {
    return this.#ask('skipDamaged');
  }

  async *records({ signal, persistent } = {}) {
    for (;;) {
      signal?.throwIfAborted();
      yield this.popNow() ?? await this.pop({ signal, persistent });
    }
  }

  [Symbol.asyncIterator]() {
    return this.records();
  }
}

class Queue {
  #native;
  #packer = new RecordPacker();
  #numbers = new BigUint64Array(1);
  #block;
  #pushPacked;
  #rounds;
  #waiting = new Waiting();

  constructor(handle) {
    this.#native = handle;
    const push = (...packed) => this.#native.pushAsync(...packed);
    this.#rounds = new Rounds(RecordPacker, push);
    this.#connect();
  }

  /** Has the native half look at the packer's block, which may be a new one. */
  #connect() {
    const { block } = this.#packer;
    this.#pushPacked = this.#native.pusher(block.bytes, block.words, this.#numbers);
    this.#block = block;
  }

  push(body) {
    this.#packer.begin();
    this.#packer.add(body);
    return this.#push(1);
  }

  pushMany(bodies) {
    this.#packer.begin();
    return this.#push(this.#packer.addAll(bodies));
  }

  #push(count) {
    if (this.#packer.block !== this.#block) this.#connect();
    try {
      this.#pushPacked(count);
    } catch (error) {
      throw seen(error);
    }
    return this.#numbers[0];
  }

  async pushAsync(body) {
    return (await this.#rounds.one(body)).end;
  }

  async pushManyAsync(bodies) {
    return (await this.#rounds.many(bodies)).end;
  }

  reader(name = 'default') {
    checkText('name', name);
    return new QueueReader(native(() => this.#native.reader(name)), name, this.#waiting);
  }

  #ask(what, given = {}) {
    const question = questionOf(given);
    return answerOf(native(() => this.#native.ask(what, question)));
  }

  async #act(what) {
    return answerOf(await nativeAsync(() => this.#native.act(what)));
  }

  removeReader(name) {
    this.#ask('removeReader', { name: checkText('name', name) });
    this.#waiting.lookAgain();
  }

  flush() {
    return this.#act('flush');
  }

  stat() {
    return this.#ask('stat');
  }

  verify() {
    return this.#act('verify');
  }

  run(step) {
    return this.#ask('run', { step });
  }

  get recovery() {
    return this.#ask('recovery');
  }

  get root() {
    return this.#ask('root');
  }

  /** What names the queue to `attachQueue`, in any thread of this process. */
  get token() {
    return native(() => this.#native.token());
  }

  async close() {
    this.#waiting.close('queue');
    await this.#rounds.settled();
    await nativeAsync(() => this.#native.close());
  }

  [Symbol.dispose]() {
    this.#waiting.close('queue');
    native(() => this.#native.closeNow());
  }

  [Symbol.asyncDispose]() {
    return this.close();
  }
}

/** Opens the queue at `root`, or makes one. */
function openQueue(root, options) {
  return native(() => new Queue(binding.openQueue(pathOf('root', root), optionsOf(options))));
}

/** As `openQueue`, without holding up the thread. */
function openQueueAsync(root, options) {
  return nativeAsync(
    async () => new Queue(await binding.openQueueAsync(pathOf('root', root), optionsOf(options))),
  );
}

/** A further handle on a queue that is open in this process, for a worker thread. */
function attachQueue(token) {
  if (typeof token !== 'number') throw wrongType('token must be a number');
  return native(() => new Queue(binding.attachQueue(token)));
}

module.exports = { Queue, QueueReader, QueueRecord, attachQueue, openQueue, openQueueAsync };
