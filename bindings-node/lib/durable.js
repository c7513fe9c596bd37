'use strict';
// Durable appends in the order of their calls, those of one moment with one flush.

const { nativeAsync, SpanlogError } = require('./errors');
const { answerOf } = require('./numbers');
const { Packer } = require('./packing');

class DurableQueue {
  #native;
  #packer = new Packer();
  #waiting = [];
  #running;

  constructor(handle) {
    this.#native = handle;
  }

  /** Adds a message to those of the next round. */
  append(message) {
    if (this.#waiting.length === 0) this.#packer.begin();
    this.#packer.add(message);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      // All calls of this moment share a round.
      this.#running ??= Promise.resolve().then(() => this.#run());
    });
  }

  /** Messages that are appended all or none, after what was asked for before. */
  async appendMany(messages) {
    const packer = new Packer();
    const count = packer.addAll(messages);
    await this.settled();
    const { bytes, words } = packer.block;
    return answerOf(await nativeAsync(() =>
      this.#native.appendDurable(bytes, words, count, true)));
  }

  /** Settles once everything that was asked for so far is durable or has failed. */
  async settled() {
    while (this.#running !== undefined) await this.#running;
  }

  async #run() {
    while (this.#waiting.length > 0) {
      const round = this.#waiting;
      const { bytes, words } = this.#packer.block;
      this.#waiting = [];
      const { length } = round;
      try {
        // The native half copies the block before it returns.
        const outcomes = answerOf(await nativeAsync(() =>
          this.#native.appendDurable(bytes, words, length, false)));
        round.forEach((call, at) => settle(call, outcomes[at]));
      } catch (error) {
        for (const call of round) call.reject(error);
      }
    }
    this.#running = undefined;
  }
}

function settle(call, outcome) {
  if (outcome.error === undefined) call.resolve(outcome);
  else call.reject(new SpanlogError(outcome.error));
}

module.exports = { DurableQueue };
