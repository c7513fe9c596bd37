'use strict';
// What users see of a failure: one class for the engine's, Node's own classes for wrong arguments,
// and on all of them a string `code`.

const number = (text) => (text == null ? undefined : BigInt(text));

/** An error of the engine. */
class SpanlogError extends Error {
  constructor(fields) {
    super(fields.message);
    this.code = `SPANLOG_${fields.kind.toUpperCase()}`;
    const { path, offset, limit, start, end, errno } = fields;
    if (path != null) this.path = path;
    if (offset != null) this.offset = number(offset);
    if (limit != null) this.limit = number(limit);
    if (start != null) this.range = { start: number(start), end: number(end) };
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

function closed() {
  return new SpanlogError({ kind: 'closed', message: 'closed: the store was closed' });
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
