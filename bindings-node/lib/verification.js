'use strict';
// Everything of a store read and compared, step by step.

const { native, nativeAsync } = require('./errors');
const { answerOf } = require('./numbers');

/** Settles with what a verification found. `onProgress` is called after every step. */
async function run(start, { signal, onProgress } = {}) {
  signal?.throwIfAborted();
  const verification = native(start);
  for (;;) {
    const told = answerOf(await nativeAsync(() => verification.step()));
    if (told.findings) return told;
    signal?.throwIfAborted();
    onProgress?.(told);
  }
}

module.exports = { run };
