'use strict';
// Promises for what is yet to come. The native half tells which of them to look at again; who
// waits, for how long, and whether that keeps the process alive is decided here.

const { closed, native, wrongType } = require('./errors');
const { whole } = require('./numbers');

const MOST_TIMEOUT_MS = 2 ** 31 - 1;
const NUMBERS = 2 ** 32;

/** What callers say of a wait, checked. */
function termsOf({ timeoutMs, signal, persistent = true } = {}) {
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw wrongType('signal must be an AbortSignal');
  }
  const limit = timeoutMs === Infinity ? undefined : timeoutMs;
  return { timeoutMs: whole('timeoutMs', limit, undefined, MOST_TIMEOUT_MS), signal, persistent };
}

class Waiting {
  #native;
  #waits = new Map();
  #last = 0;
  #listens = false;
  #persistent = 0;
  #alive;

  constructor(handle) {
    this.#native = handle;
  }

  /**
   * Settles with true as soon as `isMet`, which is asked again whenever the queue, the topic or,
   * without either, the log has grown; with false after the timeout.
   */
  async until(topic, queue, isMet, options) {
    const terms = termsOf(options);
    terms.signal?.throwIfAborted();
    if (isMet()) return true;
    if (terms.timeoutMs === 0) return false;
    if (!this.#listens) {
      native(() => this.#native.listen((numbers) => this.#told(numbers)));
      this.#listens = true;
    }
    return new Promise((resolve, reject) => {
      this.#enter(topic, queue, isMet, terms, resolve, reject);
    });
  }

  #enter(topic, queue, isMet, { timeoutMs, signal, persistent }, resolve, reject) {
    this.#last = (this.#last + 1) % NUMBERS;
    const number = this.#last;
    let timer;
    const end = (settle, value) => {
      if (!this.#waits.delete(number)) return;
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      this.#native.unwatch(number);
      if (persistent) this.#release();
      settle(value);
    };
    const onAbort = () => end(reject, signal.reason);
    const look = () => {
      try {
        // The watch first: what comes after it was made is told.
        native(() => this.#native.watch(number, topic, queue));
        if (isMet()) end(resolve, true);
      } catch (error) {
        end(reject, error);
      }
    };
    this.#waits.set(number, { look, fail: (error) => end(reject, error) });
    if (persistent) this.#hold();
    signal?.addEventListener('abort', onAbort, { once: true });
    if (timeoutMs !== undefined) {
      timer = setTimeout(() => end(resolve, false), timeoutMs);
      if (!persistent) timer.unref();
    }
    look();
  }

  #told(numbers) {
    for (const number of numbers) this.#waits.get(number)?.look();
  }

  /** Ends every wait: the handle is being closed. */
  close() {
    for (const wait of [...this.#waits.values()]) wait.fail(closed());
  }

  /** A timer that is never due keeps the process alive while somebody waits. */
  #hold() {
    this.#persistent += 1;
    this.#alive ??= setInterval(() => {}, MOST_TIMEOUT_MS);
  }

  #release() {
    this.#persistent -= 1;
    if (this.#persistent > 0) return;
    clearInterval(this.#alive);
    this.#alive = undefined;
  }
}

module.exports = { Waiting };
