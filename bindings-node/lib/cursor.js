'use strict';
// A named consumer of a topic.

const { Message, deliveryOf } = require('./batch');
const { SpanlogError, native, nativeAsync, wrongType } = require('./errors');
const { MOST_U32, answerOf, offset, questionOf, whole } = require('./numbers');

/** Where to go on, as the native half takes it. */
function seekOf(to) {
  if (typeof to === 'string') return { to };
  if (typeof to !== 'object' || to === null) {
    throw wrongType("say 'start', 'end', { queue, offset } or { timeMs }");
  }
  if (to.timeMs !== undefined) return { timeMs: whole('timeMs', to.timeMs) };
  return { queue: whole('queue', to.queue, 0, MOST_U32), offset: offset('offset', to.offset) };
}

/** The error that tells of an overtaken queue. */
function goneOf({ queue, gone }) {
  const message = `gone: retention dropped messages of queue ${queue} first`;
  return new SpanlogError({ kind: 'gone', message, limit: gone.end, range: gone });
}

class Cursor {
  #native;
  #about;
  #waiting;
  #left;
  #ready = [];

  constructor(handle, { name, topic, waiting, left } = {}) {
    if (waiting === undefined) throw wrongType('cursors come from stores alone');
    this.#native = handle;
    this.#about = { name, topic };
    this.#waiting = waiting;
    this.#left = left;
  }

  get name() {
    return this.#about.name;
  }

  get topic() {
    return this.#about.topic;
  }

  pollNow({ maxMessages, maxBytes, verify } = {}) {
    const question = questionOf({ maxMessages, maxBytes, verify });
    const fill = (rows, bytes) => this.#native.fill(rows, bytes);
    return native(() => deliveryOf(this.#native.poll(question), fill));
  }

  async poll({ timeoutMs, signal, persistent, ...limits } = {}) {
    let delivery;
    const isMet = () => {
      delivery = this.pollNow(limits);
      return delivery.length > 0 || delivery.overtaken.length > 0;
    };
    const watch = (notifier, number) => this.#native.watch(notifier, number);
    const wait = { watch, isMet, dueMs: () => this.nextDueMs };
    await this.#waiting.until(wait, { timeoutMs, signal, persistent });
    return delivery;
  }

  #acknowledge(queue, end, below) {
    const number = whole('queue', queue, 0, MOST_U32);
    native(() => this.#native.ack(number, end, below));
  }

  ack(message) {
    if (!(message instanceof Message)) throw wrongType('ack takes a message that was delivered');
    this.#acknowledge(message.queue, message.queueOffset, false);
  }

  ackAt(queue, at) {
    this.#acknowledge(queue, offset('offset', at), false);
  }

  ackUpTo(queue, end) {
    this.#acknowledge(queue, offset('end', end), true);
  }

  async commit() {
    await nativeAsync(() => this.#native.commit());
  }

  #ask(what, given = {}) {
    const question = questionOf(given);
    return answerOf(native(() => this.#native.ask(what, question)));
  }

  seek(to) {
    this.#ask('seek', seekOf(to));
    this.#ready = [];
  }

  lag() {
    return this.#ask('lag');
  }

  report() {
    return this.#ask('report');
  }

  get nextDueMs() {
    return this.#ask('nextDueMs');
  }

  async *messages({ signal, persistent, ...limits } = {}) {
    for (;;) {
      while (this.#ready.length > 0) {
        signal?.throwIfAborted();
        const next = this.#ready.shift();
        if (next instanceof SpanlogError) throw next;
        yield next;
      }
      const delivery = await this.poll({ ...limits, signal, persistent });
      this.#ready.push(...delivery.overtaken.map(goneOf), ...delivery);
      this.#ready.push(...delivery.failures.map(({ error }) => error));
    }
  }

  [Symbol.asyncIterator]() {
    return this.messages();
  }

  /** Whoever waits looks again, and finds it closed. */
  #leave() {
    this.#ready = [];
    this.#left(this);
    this.#waiting.lookAgain();
  }

  async close() {
    const closing = nativeAsync(() => this.#native.close());
    this.#leave();
    await closing;
  }

  [Symbol.dispose]() {
    try {
      native(() => this.#native.closeNow());
    } finally {
      this.#leave();
    }
  }

  [Symbol.asyncDispose]() {
    return this.close();
  }
}

module.exports = { Cursor, seekOf };
