'use strict';
// spanlog for Node.js: see index.d.ts for the reference.

const { Batch, Message } = require('./lib/batch');
const { SpanlogError } = require('./lib/errors');
const { Store, attach, destroy, open, openAsync, verify } = require('./lib/store');

module.exports = {
  Batch, Message, SpanlogError, Store, attach, destroy, open, openAsync, verify,
};
