'use strict';
// Messages packed into one block of memory, as `src/scratch.rs` reads them: a call with many
// arguments takes longer than an append.

const { LEAST_I32, MOST_I32, MOST_U32, offset, whole } = require('./numbers');
const { outOfRange, wrongType } = require('./errors');

/** Words of a message before the lengths of its keys and properties. */
const HEAD_WORDS = 14;

/** A block grows to this and is kept; what needs more gets a block of its own. */
const KEPT_BYTES = 4 << 20;
const FIRST_BYTES = 64 << 10;

/** Text up to this length is written here; Node's own way costs more before it begins. */
const SHORT_TEXT = 24;

/** As the length of a topic or tags: they are those of the message before. */
const SAME = 2 ** 32 - 1;

const WORD = 2 ** 32;
const NONE = [];

/** A block of memory as bytes and as words. */
class Block {
  constructor(size) {
    const memory = new ArrayBuffer(size);
    this.bytes = Buffer.from(memory);
    this.words = new Uint32Array(memory);
  }
}

function typeName(value) {
  return value === null ? 'null' : typeof value;
}

function checkText(name, value) {
  if (typeof value !== 'string') {
    throw wrongType(`${name} must be a string, not ${typeName(value)}`);
  }
  return value;
}

/** The bytes of a body: a Uint8Array as it is, text as UTF-8. */
function bodyOf(body) {
  if (typeof body === 'string' || body instanceof Uint8Array) return body;
  if (ArrayBuffer.isView(body)) {
    return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  }
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  throw wrongType(`body must be bytes or a string, not ${typeName(body)}`);
}

function keysOf(message) {
  const { keys } = message;
  if (keys === undefined) return NONE;
  if (!Array.isArray(keys)) throw wrongType('keys must be an array of strings');
  return keys;
}

/** Names and values in turn. */
function propertiesOf(message) {
  const { properties } = message;
  if (properties === undefined) return NONE;
  if (typeof properties !== 'object' || properties === null || Array.isArray(properties)) {
    throw wrongType('properties must be an object of strings');
  }
  const pairs = [];
  for (const name in properties) {
    if (Object.hasOwn(properties, name)) pairs.push(name, properties[name]);
  }
  return pairs;
}

/** How long texts are together. */
function lengthOf(name, texts) {
  let length = 0;
  for (let i = 0; i < texts.length; i += 1) length += checkText(name, texts[i]).length;
  return length;
}

/** Packs one behind the other: `add` is for those who extend it. */
class Writer {
  constructor() {
    this.block = new Block(FIRST_BYTES);
    this.begin();
  }

  /** Forgets what was packed. */
  begin() {
    this.at = 0;
    if (this.block.bytes.length > KEPT_BYTES) this.block = new Block(FIRST_BYTES);
  }

  /** Makes sure that `size` more bytes fit. */
  reserve(size) {
    const needed = this.at + size;
    if (needed <= this.block.bytes.length) return;
    if (needed > MOST_U32) throw outOfRange('the messages take more than 4 GiB');
    const block = new Block(Math.min(2 ** Math.ceil(Math.log2(needed)), MOST_U32 - 3));
    block.bytes.set(this.block.bytes.subarray(0, this.at));
    this.block = block;
  }

  /** Writes text at `at` and returns its length in bytes. */
  text(text, at) {
    const { bytes } = this.block;
    const { length } = text;
    if (length > SHORT_TEXT) return bytes.utf8Write(text, at);
    for (let i = 0; i < length; i += 1) {
      const unit = text.charCodeAt(i);
      if (unit > 0x7f) return bytes.utf8Write(text, at);
      bytes[at + i] = unit;
    }
    return length;
  }

  /** Writes bytes or text at `at` and returns their length. */
  body(body, at) {
    if (typeof body === 'string') return this.text(body, at);
    this.block.bytes.set(body, at);
    return body.length;
  }

  /** The next begins at a multiple of 4. */
  end(at) {
    this.at = ((at + 3) & ~3) >>> 0;
  }

  /** Adds messages, and returns how many they are. */
  addAll(messages) {
    if (typeof messages?.[Symbol.iterator] !== 'function' || typeof messages === 'string') {
      throw wrongType(`${this.what} must be an array, or something else to go through`);
    }
    let count = 0;
    for (const message of messages) {
      this.add(message);
      count += 1;
    }
    return count;
  }
}

/** A unit of text takes at most 3 bytes. */
function mostBytes(body) {
  return typeof body === 'string' ? 3 * body.length : body.length;
}

/** Packs records of a queue. */
class RecordPacker extends Writer {
  get what() {
    return 'records';
  }

  add(record) {
    const body = bodyOf(record);
    this.reserve(mostBytes(body) + 8);
    const length = this.body(body, this.at + 4);
    this.block.words[this.at / 4] = length;
    this.end(this.at + 4 + length);
  }
}

/** Packs messages. */
class Packer extends Writer {
  get what() {
    return 'messages';
  }

  begin() {
    super.begin();
    this.topic = undefined;
    this.tags = undefined;
  }

  /** Adds a message. */
  add(message) {
    if (typeof message !== 'object' || message === null) {
      throw wrongType(`a message must be an object, not ${typeName(message)}`);
    }
    const { topic, tags, bornHost } = message;
    const keys = keysOf(message);
    const properties = propertiesOf(message);
    const body = bodyOf(message.body);
    let units = checkText('topic', topic).length;
    if (tags !== undefined) units += checkText('tags', tags).length;
    if (bornHost !== undefined) units += checkText('bornHost', bornHost).length;
    units += lengthOf('each of keys', keys) + lengthOf('each of properties', properties);
    const lists = HEAD_WORDS + keys.length + properties.length;
    this.reserve(4 * lists + 3 * units + mostBytes(body) + 4);

    const { words } = this.block;
    const head = this.at / 4;
    this.#numbers(head, message);
    let at = this.at + 4 * lists;
    at = this.#topicAndTags(head, topic, tags, at);
    if (bornHost !== undefined) at += words[head + 11] = this.text(bornHost, at);
    if (keys.length + properties.length > 0) {
      words[head + 12] = keys.length;
      words[head + 13] = properties.length / 2;
      at = this.#list(head + HEAD_WORDS, keys, at);
      at = this.#list(head + HEAD_WORDS + keys.length, properties, at);
    }
    at += words[head + 8] = this.body(body, at);
    this.end(at);
  }

  /** The words of a message that are not lengths. */
  #numbers(head, message) {
    const { words } = this.block;
    const { queue, flag, sysFlag, reconsumeTimes, bornMs, preparedPosition } = message;
    // Most are left out: filling is one call.
    words.fill(0, head, head + HEAD_WORDS);
    if (queue !== undefined) words[head] = whole('queue', queue, 0, MOST_U32);
    if (flag !== undefined) words[head + 1] = whole('flag', flag, 0, MOST_I32, LEAST_I32);
    if (sysFlag !== undefined) words[head + 2] = whole('sysFlag', sysFlag, 0, MOST_I32, LEAST_I32);
    if (reconsumeTimes !== undefined) {
      words[head + 3] = whole('reconsumeTimes', reconsumeTimes, 0, MOST_I32, LEAST_I32);
    }
    if (bornMs !== undefined) {
      const born = whole('bornMs', bornMs, 0);
      words[head + 4] = born;
      words[head + 5] = born / WORD;
    }
    if (preparedPosition !== undefined) {
      const position = offset('preparedPosition', preparedPosition);
      words[head + 6] = Number(position & 0xffff_ffffn);
      words[head + 7] = Number(position >> 32n);
    }
  }

  /** Most messages of a batch have those of the message before. */
  #topicAndTags(head, topic, tags, start) {
    const { words } = this.block;
    let at = start;
    if (topic === this.topic && tags === this.tags) {
      words[head + 9] = SAME;
      words[head + 10] = SAME;
      return at;
    }
    at += words[head + 9] = this.text(topic, at);
    // One more than it is: 0 says that there are none.
    const length = tags === undefined ? -1 : this.text(tags, at);
    words[head + 10] = length + 1;
    this.topic = topic;
    this.tags = tags;
    return at + Math.max(length, 0);
  }

  #list(word, texts, start) {
    const { words } = this.block;
    let at = start;
    for (let i = 0; i < texts.length; i += 1) at += words[word + i] = this.text(texts[i], at);
    return at;
  }
}

module.exports = { Packer, RecordPacker };
