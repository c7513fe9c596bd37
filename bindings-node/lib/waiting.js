'use strict';
// Promises for what is yet to come. The native half tells which of them to look at again; who
// waits, for how long, and whether that keeps the process alive is decided here.

const binding = require('../binding');
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
  #notifier;
  #waits = new Map();
  #last = 0;
  #persistent = 0;
  #alive;

  /**
   * Settles with true as soon as `isMet`, which is asked again whenever something happens that
   * `watch(notifier, number)` has told, and when something is due (`dueMs`, if that is known); with
   * false after the timeout.
   */
  async until({ watch, isMet, dueMs }, options) {
    const terms = termsOf(options);
    terms.signal?.throwIfAborted();
    if (isMet()) return true;
    if (terms.timeoutMs === 0) return false;
    const told = (numbers) => {
      for (const number of numbers) this.#waits.get(number)?.look();
    };
    this.#notifier ??= native(() => new binding.NativeNotifier(told));
    return new Promise((resolve, reject) => {
      this.#enter({ watch, isMet, dueMs }, terms, resolve, reject);
    });
  }

  #enter({ watch, isMet, dueMs }, { timeoutMs, signal, persistent }, resolve, reject) {
    this.#last = (this.#last + 1) % NUMBERS;
    const number = this.#last;
    let timer;
    let due;
    const end = (settle, value) => {
      if (!this.#waits.delete(number)) return;
      clearTimeout(timer);
      clearTimeout(due);
      signal?.removeEventListener('abort', onAbort);
      this.#notifier.remove(number);
      if (persistent) this.#release();
      settle(value);
    };
    const onAbort = () => end(reject, signal.reason);
    const look = () => {
      try {
        // The watch first: what comes after it was made is told. One is enough.
        this.#notifier.remove(number);
        native(() => watch(this.#notifier, number));
        if (isMet()) return end(resolve, true);
        clearTimeout(due);
        const at = dueMs?.();
        if (at === undefined) return undefined;
        due = setTimeout(look, Math.min(Math.max(at - Date.now(), 1), MOST_TIMEOUT_MS));
        return persistent ? undefined : due.unref();
      } catch (error) {
        return end(reject, error);
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

  /** Has everybody look again. */
  lookAgain() {
    for (const wait of [...this.#waits.values()]) wait.look();
  }

  /** Ends every wait: the handle is being closed. */
  close(what) {
    for (const wait of [...this.#waits.values()]) wait.fail(closed(what));
    this.#notifier?.close();
    this.#notifier = undefined;
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
