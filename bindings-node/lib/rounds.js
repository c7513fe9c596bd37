'use strict';
// Appends and pushes that may wait, in the order of their calls; those of one moment go together, with
// one flush.

const { nativeAsync, SpanlogError } = require('./errors');
const { answerOf } = require('./numbers');

class Rounds {
  #Packer;
  #packer;
  #work;
  #waiting = [];
  #running;

  /** `work(bytes, words, count, together)` is the native half's. */
  constructor(Packer, work) {
    this.#Packer = Packer;
    this.#packer = new Packer();
    this.#work = work;
  }

  /** Adds a message to those of the next round. */
  one(message) {
    if (this.#waiting.length === 0) this.#packer.begin();
    this.#packer.add(message);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      // All calls of this moment share a round.
      this.#running ??= Promise.resolve().then(() => this.#run());
    });
  }

  /** Messages all or none, after what was asked for before. */
  async many(messages) {
    const packer = new this.#Packer();
    const count = packer.addAll(messages);
    await this.settled();
    const { bytes, words } = packer.block;
    return answerOf(await nativeAsync(() => this.#work(bytes, words, count, true)));
  }

  /** Settles once everything that was asked for so far is done or has failed. */
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
        const outcomes = answerOf(await nativeAsync(() => this.#work(bytes, words, length, false)));
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

module.exports = { Rounds };
