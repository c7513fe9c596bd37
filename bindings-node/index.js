'use strict';
// spanlog for Node.js: see index.d.ts for the reference.

const { Batch, Delivery, Message } = require('./lib/batch');
const { Cursor } = require('./lib/cursor');
const { SpanlogError } = require('./lib/errors');
const {
  Queue, QueueReader, QueueRecord, attachQueue, openQueue, openQueueAsync,
} = require('./lib/queue');
const { Store, attach, destroy, open, openAsync, planRepair, verify } = require('./lib/store');
const { RepairPlan } = require('./lib/verification');

module.exports = {
  Batch, Cursor, Delivery, Message, Queue, QueueReader, QueueRecord, RepairPlan, SpanlogError, Store,
  attach, attachQueue, destroy, open, openAsync, openQueue, openQueueAsync, planRepair, verify,
};
