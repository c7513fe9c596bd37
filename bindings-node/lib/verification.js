'use strict';
// Everything of a store read and compared, step by step, and what mending it takes.

const { native, nativeAsync, wrongType } = require('./errors');
const { answerOf } = require('./numbers');

/** Runs a verification to its end. `onProgress` is called after every step. */
async function findingsOf(verification, { signal, onProgress }) {
  for (;;) {
    const told = answerOf(await nativeAsync(() => verification.step()));
    if (told.findings) return told;
    signal?.throwIfAborted();
    onProgress?.(told);
  }
}

/** Settles with what a verification found. */
async function run(start, options = {}) {
  options.signal?.throwIfAborted();
  return findingsOf(native(start), options);
}

/** What mending a store takes. Nothing is done before `apply`. */
class RepairPlan {
  #native;

  constructor(handle, verification) {
    if (verification === undefined) throw wrongType('plans come from planRepair alone');
    this.#native = handle;
    this.verification = verification;
    Object.assign(this, answerOf(native(() => handle.describe())));
  }

  /** Whether there is nothing to do. */
  get isEmpty() {
    return this.actions.length === 0;
  }

  async apply() {
    return answerOf(await nativeAsync(() => this.#native.apply()));
  }
}

/** Settles with what mending takes. */
async function plan(start, options) {
  options.signal?.throwIfAborted();
  const verification = native(start);
  const found = await findingsOf(verification, options);
  return new RepairPlan(native(() => verification.plan()), found);
}

module.exports = { RepairPlan, plan, run };
