'use strict';
// The one rule for numbers: positions and queue offsets come out as bigints, and go in as bigints
// or as whole numbers up to 2^53 - 1. Times, sizes and counts are numbers.

const { outOfRange, wrongType } = require('./errors');

const LARGEST = 2n ** 64n - 1n;

/** A position or queue offset, as a bigint. */
function offset(name, value) {
  if (typeof value === 'bigint') {
    if (value >= 0n && value <= LARGEST) return value;
  } else if (typeof value !== 'number') {
    throw wrongType(`${name} must be a bigint or a whole number, not ${typeof value}`);
  } else if (Number.isSafeInteger(value) && value >= 0) {
    return BigInt(value);
  }
  throw outOfRange(`${name} is ${value}: it must be from 0 to 2^64 - 1, above 2^53 - 1 a bigint`);
}

/** A whole number from `least` to `most`, or `usual` if it is absent. */
function whole(name, value, usual, most = Number.MAX_SAFE_INTEGER, least = 0) {
  if (value === undefined) return usual;
  if (typeof value !== 'number') throw wrongType(`${name} must be a number, not ${typeof value}`);
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw outOfRange(`${name} is ${value}: it must be a whole number from ${least} to ${most}`);
}

/** Fields of answers that are positions or offsets: JSON has them as text. */
const OFFSETS = new Set([
  'acknowledged', 'appended', 'base', 'committed', 'device', 'end', 'flushed', 'indexed', 'limit',
  'max', 'min', 'next', 'offset', 'position', 'preparedPosition', 'queueOffset', 'reading',
  'scannedFrom', 'start',
]);

/** An answer of the native half; what is null there is left out. */
function answerOf(text) {
  return JSON.parse(text, (name, value) => {
    if (value === null) return undefined;
    return typeof value === 'string' && OFFSETS.has(name) ? BigInt(value) : value;
  }) ?? undefined;
}

/** Arguments for the native half; what JSON would drop or change in silence is a mistake. */
function questionOf(given) {
  return JSON.stringify(given, (name, value) => {
    if (typeof value === 'bigint') return String(value);
    if (typeof value === 'number' && !Number.isFinite(value)) throw outOfRange(`${name} is ${value}`);
    if (typeof value === 'function' || typeof value === 'symbol') {
      throw wrongType(`${name} must not be a ${typeof value}`);
    }
    return value;
  });
}

const MOST_U32 = 2 ** 32 - 1;
const MOST_I32 = 2 ** 31 - 1;
const LEAST_I32 = -(2 ** 31);

module.exports = { LEAST_I32, MOST_I32, MOST_U32, answerOf, offset, questionOf, whole };
