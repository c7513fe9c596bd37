'use strict';
// What a read found. The bytes of all its messages lie in one block; each message is cut out of it
// when it is asked for. `src/found.rs` says how rows are laid out.

const { inspect } = require('node:util');
const binding = require('../binding');
const { SpanlogError, wrongType } = require('./errors');
const { answerOf } = require('./numbers');

/** 64-bit numbers of a row. */
const ROW = 12;

/** By the numbers that `src/found.rs` gives them. */
const STATUSES = [
  'found', 'no_queue', 'empty', 'too_small', 'at_end', 'too_large', 'removed', 'no_match',
];

/** One message, cut out of its batch on demand. */
class Message {
  #block;
  #row;
  #details;

  constructor(block, row) {
    if (block?.longs === undefined) throw wrongType('messages come from reads alone');
    this.#block = block;
    this.#row = row;
  }

  get queueOffset() {
    return this.#block.longs[this.#row];
  }

  get position() {
    return this.#block.longs[this.#row + 1];
  }

  get bornMs() {
    return Number(this.#block.longs[this.#row + 2]);
  }

  get storeMs() {
    return Number(this.#block.longs[this.#row + 3]);
  }

  get queue() {
    return this.#block.words[2 * this.#row + 8];
  }

  /** How often a cursor delivered it; 0 if it was read otherwise. */
  get attempt() {
    return this.#block.words[2 * this.#row + 22];
  }

  get flag() {
    return this.#block.words[2 * this.#row + 9] | 0;
  }

  #span(column) {
    const { bytes, words } = this.#block;
    const start = words[2 * (this.#row + column)];
    return bytes.subarray(start, start + words[2 * (this.#row + column) + 1]);
  }

  #text(column) {
    const { bytes, words } = this.#block;
    const start = words[2 * (this.#row + column)];
    return bytes.utf8Slice(start, start + words[2 * (this.#row + column) + 1]);
  }

  #isThere(column) {
    return this.#block.longs[this.#row + column] !== 0n;
  }

  get record() {
    return this.#span(5);
  }

  get body() {
    return this.#span(6);
  }

  get topic() {
    return this.#text(7);
  }

  get tags() {
    return this.#isThere(8) ? this.#text(8) : undefined;
  }

  get keys() {
    return this.#isThere(9) ? this.#text(9).split(' ').filter(Boolean) : [];
  }

  get uniqueId() {
    return this.#isThere(10) ? this.#text(10) : undefined;
  }

  get #rest() {
    this.#details ??= answerOf(binding.details(this.record));
    return this.#details;
  }

  get properties() {
    return Object.assign(Object.create(null), Object.fromEntries(this.#rest.properties));
  }

  get sysFlag() {
    return this.#rest.sysFlag;
  }

  get reconsumeTimes() {
    return this.#rest.reconsumeTimes;
  }

  get preparedPosition() {
    return this.#rest.preparedPosition;
  }

  get bornHost() {
    return this.#rest.bornHost;
  }

  get storeHost() {
    return this.#rest.storeHost;
  }

  /** The body as text. */
  text() {
    return this.#text(6);
  }

  [inspect.custom]() {
    const { topic, queue, queueOffset, position, tags, keys, body } = this;
    return { topic, queue, queueOffset, position, tags, keys, body };
  }
}

/** Messages side by side in one block. */
class Messages {
  #block;

  constructor(block, length) {
    if (length === undefined) throw wrongType('messages come from reads alone');
    this.#block = block;
    Object.defineProperty(this, 'length', { value: length, enumerable: true });
  }

  /** Message number `at`, from 0; from the end if it is negative. */
  at(at) {
    const index = at < 0 ? at + this.length : at;
    if (!(Number.isInteger(index) && index >= 0 && index < this.length)) return undefined;
    return new Message(this.#block, index * ROW);
  }

  *[Symbol.iterator]() {
    for (let row = 0; row < this.length * ROW; row += ROW) yield new Message(this.#block, row);
  }
}

/** The messages of one read or look-up. */
class Batch extends Messages {
  constructor({ status, next, bounds, damage }, block, length) {
    super(block, length);
    this.status = status;
    this.next = next;
    this.bounds = bounds;
    if (damage) this.damage = damage;
  }
}

/** What a cursor delivered. */
class Delivery extends Messages {
  constructor({ overtaken, failures }, block, length) {
    super(block, length);
    this.overtaken = overtaken;
    this.failures = failures;
  }
}

/** A block of memory for `count` rows of `width` numbers, and bytes. */
function blockOf(width, count, size) {
  const rowBytes = 8 * width * count;
  const memory = Buffer.allocUnsafeSlow(rowBytes + size).buffer;
  return {
    longs: new BigUint64Array(memory, 0, width * count),
    words: new Uint32Array(memory, 0, 2 * width * count),
    bytes: Buffer.from(memory, rowBytes, size),
  };
}

/** Has the native half lay out what was found, in a block made for it. */
function takeOut({ count, bytes: size }, fill) {
  if (count === 0) return { count, damages: [], block: undefined };
  const block = blockOf(ROW, count, size);
  const told = fill(block.longs, block.bytes) ?? null;
  if (told === null) return { count, damages: [], block };
  const { count: whole, damages } = JSON.parse(told);
  return { count: whole, damages, block };
}

/** The batch that a read or a look-up left behind, about which the native half left numbers. */
function batchOf(numbers, fill) {
  const about = {
    count: Number(numbers[0]),
    bytes: Number(numbers[1]),
    status: STATUSES[numbers[2]],
    next: numbers[3],
    bounds: { min: numbers[4], max: numbers[5] },
  };
  const { count, damages: [damage], block } = takeOut(about, fill);
  if (damage) {
    const next = block.longs[ROW * (count - 1)] + 1n;
    Object.assign(about, { damage: new SpanlogError(damage), next });
  }
  return new Batch(about, block, count);
}

/** The one message that was found. */
function messageOf(numbers, fill) {
  return new Message(takeOut({ count: 1, bytes: Number(numbers[1]) }, fill).block, 0);
}

/** What a poll left behind; damaged messages are told beside the others. */
function deliveryOf(text, fill) {
  const about = answerOf(text);
  const { count, damages, block } = takeOut(about, fill);
  const failure = ({ queue, ...fields }) => ({ queue, error: new SpanlogError(fields) });
  const failures = [...about.failures, ...damages].map(failure);
  if (count === 0 && about.overtaken.length === 0 && failures.length > 0) throw failures[0].error;
  return new Delivery({ overtaken: about.overtaken, failures }, block, count);
}

module.exports = { Batch, Delivery, Message, batchOf, blockOf, deliveryOf, messageOf };
