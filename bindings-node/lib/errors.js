'use strict';
// What users see of a failure: one class for the engine's, Node's own classes for wrong arguments,
// and on all of them a string `code`.

/** Fields of an error that are positions; its JSON has them as text. */
const NUMBERS = ['offset', 'limit'];

/** An error of the engine. */
class SpanlogError extends Error {
  constructor({ kind, message, path, range, errno, ...numbers }) {
    super(message);
    this.code = `SPANLOG_${kind.toUpperCase()}`;
    if (path != null) this.path = path;
    for (const name of NUMBERS) {
      if (numbers[name] != null) this[name] = BigInt(numbers[name]);
    }
    if (range != null) this.range = { start: BigInt(range.start), end: BigInt(range.end) };
    if (errno != null) this.errno = errno;
  }

  get name() {
    return 'SpanlogError';
  }
}

/** An argument of the wrong type. */
function wrongType(message) {
  return Object.assign(new TypeError(message), { code: 'SPANLOG_INVALID' });
}

/** A number that cannot be. */
function outOfRange(message) {
  return Object.assign(new RangeError(message), { code: 'SPANLOG_INVALID' });
}

function closed(what = 'store') {
  return new SpanlogError({ kind: 'closed', message: `closed: the ${what} was closed` });
}

/** What the native half threw, as users see it. Its errors carry their fields as JSON. */
function seen(error) {
  if (!(error instanceof Error) || error.code?.startsWith?.('SPANLOG_')) return error;
  if (error.message.startsWith('{"')) return new SpanlogError(JSON.parse(error.message));
  if (/^InvalidArg$|Expected$/.test(error.code)) return wrongType(error.message);
  return new SpanlogError({ kind: 'internal', message: `internal: ${error.message}` });
}

/** Calls the native half. */
function native(call) {
  try {
    return call();
  } catch (error) {
    throw seen(error);
  }
}

/** Calls the native half for a promise. */
async function nativeAsync(call) {
  try {
    return await call();
  } catch (error) {
    throw seen(error);
  }
}

module.exports = { SpanlogError, closed, native, nativeAsync, outOfRange, seen, wrongType };
