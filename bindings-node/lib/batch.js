'use strict';
// What a read found. The bytes of all its messages lie in one block; each message is cut out of it
// when it is asked for. `src/found.rs` says how rows are laid out.

const { inspect } = require('node:util');
const binding = require('../binding');
const { SpanlogError, wrongType } = require('./errors');

/** 64-bit numbers of a row. */
const ROW = 11;

const STATUSES = ['found', 'no_queue', 'empty', 'too_small', 'at_end', 'too_large', 'removed'];

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
    this.#details ??= binding.details(this.record);
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

/** The messages of one read. */
class Batch {
  #block;

  constructor(fields, block) {
    if (fields?.status === undefined) throw wrongType('batches come from reads alone');
    this.status = fields.status;
    this.next = fields.next;
    this.bounds = fields.bounds;
    this.length = fields.length;
    if (fields.damage) this.damage = fields.damage;
    this.#block = block;
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

/** Has the native half lay out what was found, in a block made for it. */
function takeOut(fill, count, size) {
  const rowBytes = 8 * ROW * count;
  const memory = Buffer.allocUnsafeSlow(rowBytes + size).buffer;
  const longs = new BigUint64Array(memory, 0, ROW * count);
  const bytes = Buffer.from(memory, rowBytes, size);
  const damage = fill(longs, bytes);
  return { damage, block: { longs, words: new Uint32Array(memory, 0, 2 * ROW * count), bytes } };
}

/** The batch that a read left behind, as its numbers say. */
function batchOf(numbers, fill) {
  const fields = {
    status: STATUSES[numbers[0]],
    next: numbers[1],
    bounds: { min: numbers[2], max: numbers[3] },
    length: Number(numbers[4]),
  };
  if (fields.length === 0) return new Batch(fields);
  const { damage, block } = takeOut(fill, fields.length, Number(numbers[5]));
  if (damage != null) {
    fields.length = Number(numbers[0]);
    fields.next = block.longs[ROW * (fields.length - 1)] + 1n;
    fields.damage = new SpanlogError(JSON.parse(damage));
  }
  return new Batch(fields, block);
}

/** The one message that was found. */
function messageOf(numbers, fill) {
  return new Message(takeOut(fill, 1, Number(numbers[5])).block, 0);
}

module.exports = { Batch, Message, batchOf, messageOf };
