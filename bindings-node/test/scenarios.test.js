'use strict';
// The shared scenarios, which every language must pass; README.md beside them tells the format.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { after, test } = require('node:test');
const spanlog = require('spanlog');
const { folder } = require('./folder');

const HOME = process.env.SPANLOG_SCENARIOS ?? path.join(__dirname, '../scenarios');

const camel = (name) => name.replace(/_[a-z]/g, (letters) => letters[1].toUpperCase());

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** An integer, written as a number or, where it would lose digits, as text. */
const integer = (value) => (typeof value === 'string' ? BigInt(value) : value);

/** Fields that are integers however they are written. */
const INTEGERS = new Set(['from', 'position', 'max_messages', 'max_bytes', 'born_ms']);

function bytesOf(body) {
  if (typeof body === 'string') return Buffer.from(body);
  if (body.hex !== undefined) return Buffer.from(body.hex, 'hex');
  return Buffer.alloc(body.bytes, body.fill);
}

/** Names as JavaScript has them; options and messages of a scenario are checked by the package. */
function renamed(given) {
  if (!isObject(given)) return given;
  return Object.fromEntries(Object.entries(given).map(([name, value]) => {
    if (name === 'properties' || name === 'keys') return [name, value];
    return [camel(name), INTEGERS.has(name) ? Number(value) : renamed(value)];
  }));
}

/** Operations on a store that nobody has open. */
const NEED_NO_STORE = new Set(['open', 'destroy', 'verify', 'repair']);

class World {
  constructor() {
    this.path = folder();
    this.stores = new Map();
    this.cursors = new Map();
    this.queues = new Map();
  }

  at(name) {
    return path.join(this.path, name);
  }

  relative(name) {
    return name.startsWith(this.path) ? path.relative(this.path, name) : name;
  }

  directory(given) {
    if (typeof given === 'string') return this.at(given);
    return { ...renamed(given), path: this.at(given.path) };
  }

  options({ directories, ...given } = {}) {
    const options = { background: false, ...renamed(given) };
    if (directories) options.paths = directories.map((one) => this.directory(one));
    return options;
  }

  async step(step) {
    const { op, store: name = 'main', expect, error: wanted } = step;
    if (FILES[op]) return FILES[op](this.at(step.path), step);
    assert.ok(OPERATIONS[op], `there is no operation ${op}`);
    const needsStore = !NEED_NO_STORE.has(op) && !op.startsWith('queue_');
    assert.ok(!needsStore || this.stores.has(name), `no store ${name} is open`);
    let found;
    try {
      found = await OPERATIONS[op](this, step, this.stores.get(name), name);
    } catch (error) {
      if (!wanted || typeof error.code !== 'string') throw error;
      differ(wanted, this.errorOf(error), 'error');
      return undefined;
    }
    assert.ok(!wanted, 'it should have failed');
    if (expect) differ(expect, found ?? {}, 'expect');
    return undefined;
  }

  errorOf(error) {
    assert.match(error.code, /^SPANLOG_[A-Z_]+$/);
    return {
      code: error.code.slice('SPANLOG_'.length).toLowerCase(),
      path: error.path && this.relative(error.path),
      offset: error.offset,
      limit: error.limit,
    };
  }
}

/** Compares what was found with what was expected: objects may have more, lists may not. */
function differ(expected, found, at) {
  if (at.endsWith('.body')) {
    assert.ok(bytesOf(expected).equals(found), `${at}: other bytes`);
  } else if (Array.isArray(expected)) {
    assert.equal(found.length, expected.length, `${at}: length`);
    expected.forEach((row, index) => differ(row, found[index], `${at}[${index}]`));
  } else if (isObject(expected)) {
    for (const [name, value] of Object.entries(expected)) differ(value, found[name], `${at}.${name}`);
  } else if (typeof found === 'bigint' || typeof found === 'number') {
    assert.equal(BigInt(found), BigInt(integer(expected)), at);
  } else {
    assert.equal(found ?? null, expected, at);
  }
}

const messageOf = ({ body, born_ms: bornMs, ...given }) => ({
  ...renamed(given),
  body: bytesOf(body),
  ...(bornMs === undefined ? {} : { bornMs: Number(bornMs) }),
});

/** A message that was read, as scenarios name its fields. */
const answer = (message) => ({
  topic: message.topic,
  queue: message.queue,
  queue_offset: message.queueOffset,
  position: message.position,
  body: message.body,
  tags: message.tags,
  keys: message.keys,
  properties: message.properties,
  unique_id: message.uniqueId,
  flag: message.flag,
  sys_flag: message.sysFlag,
  born_ms: message.bornMs,
  born_host: message.bornHost,
  store_ms: message.storeMs,
  reconsume_times: message.reconsumeTimes,
});

const receipt = ({ position, queueOffset, end, storeMs }) =>
  ({ position, queue_offset: queueOffset, end, store_ms: storeMs });

/** A batch, or what is wrong with a message of it. */
function batchOf(batch) {
  if (batch.damage) throw batch.damage;
  const { status, next, bounds } = batch;
  return { status, next, ...bounds, messages: [...batch].map(answer) };
}

const boundsOf = (bounds) => bounds ?? { none: true };

const FILES = {
  write_file(file, { bytes, parts = [] }) {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    const content = Buffer.alloc(bytes);
    for (const { at, hex } of parts) content.write(hex, Number(at), 'hex');
    fs.writeFileSync(file, content);
  },
  patch_file(file, { at, hex }) {
    const descriptor = fs.openSync(file, 'r+');
    const bytes = Buffer.from(hex, 'hex');
    fs.writeSync(descriptor, bytes, 0, bytes.length, Number(at));
    fs.closeSync(descriptor);
  },
  remove_file: (file) => fs.rmSync(file),
};

const OPERATIONS = {
  open(world, { root, options }, _, name) {
    world.stores.set(name, spanlog.open(world.at(root), world.options(options)));
  },
  close: (world, step, store) => store.close(),
  destroy: (world, { root, options }) => spanlog.destroy(world.at(root), world.options(options)),
  async verify(world, { root, options }) {
    const found = await spanlog.verify(world.at(root), world.options(options));
    const { isSound: sound, records, findings, wasClosed: was_closed } = found;
    return { sound, records, findings: findings.length, was_closed };
  },
  async repair(world, { root, options }) {
    const plan = await spanlog.planRepair(world.at(root), world.options(options));
    const actions = plan.actions.map(({ action }) => action);
    return { actions, saved: (await plan.apply()).saved.length };
  },
  append: (world, { message }, store) => receipt(store.append(messageOf(message))),
  append_durable: async (world, { message }, store) =>
    receipt(await store.appendDurable(messageOf(message))),
  append_batch: (world, { messages }, store) => receipt(store.appendMany(messages.map(messageOf))),
  append_batch_durable: async (world, { messages }, store) =>
    receipt(await store.appendManyDurable(messages.map(messageOf))),
  catch_up: (world, step, store) => store.catchUp(),
  flush: (world, step, store) => store.flush(),
  clean_now: (world, step, store) => store.cleanNow(),
  refresh: (world, step, store) => ({ news: store.refresh() }),
  run(world, { task, times = 1 }, store) {
    for (let i = 0; i < times; i += 1) store.run(task);
  },
  read(world, step, store) {
    const { topic, queue, from = 0, tags, max_messages: maxMessages, max_bytes: maxBytes } = step;
    return batchOf(store.read(topic, queue, integer(from), { tags, maxMessages, maxBytes }));
  },
  read_filtered: (world, step, store) => OPERATIONS.read(world, step, store),
  query: (world, { topic, key, max_messages: maxMessages }, store) =>
    batchOf(store.query(topic, key, { maxMessages })),
  find_by_id: (world, { topic, id }, store) => batchOf(store.findById(topic, id)),
  offset_at: (world, { topic, queue, time_ms: timeMs, boundary }, store) =>
    ({ offset: store.offsetAt(topic, queue, Number(timeMs), boundary) }),
  wait: async (world, { topic, queue, from, timeout_ms: timeoutMs }, store) =>
    ({ told: await store.wait(topic, queue, integer(from), { timeoutMs }) }),
  get: (world, { position }, store) => answer(store.get(integer(position))),
  bounds: (world, { topic, queue }, store) => boundsOf(store.bounds(topic, queue)),
  queues: (world, step, store) => ({
    queues: store.queues().map(({ topic, queue, bounds }) => ({ topic, queue, ...bounds })),
  }),
  watermarks: (world, step, store) => store.watermarks(),
  segments: (world, step, store) => ({
    segments: store.segments().map(({ base, lenBytes, path: file, dropped }) =>
      ({ base, len_bytes: lenBytes, path: world.relative(file), dropped })),
  }),
  disks: (world, step, store) => ({
    directories: store.disks().map((disk) => ({
      ...disk,
      path: world.relative(disk.path),
      offline: disk.offline !== undefined,
      takes_segments: disk.takesSegments,
      segment_bytes: disk.segmentBytes,
    })),
  }),
  recovery(world, step, store) {
    const { wasClean, end, records, rebuiltQueues, tornTail, skipped, offline } = store.recovery;
    return {
      was_clean: wasClean,
      end,
      records,
      rebuilt_queues: rebuiltQueues,
      torn: tornTail !== undefined,
      skipped: skipped.length,
      offline: offline.length,
    };
  },
  plan_clean: (world, { manual }, store) => store.planClean({ manual }),
  set_usage(world, { path: name, used_bytes: usedBytes, available_bytes: availableBytes }, store) {
    const usage = usedBytes === undefined ? undefined : { usedBytes, availableBytes };
    return store.setUsage(world.at(name), usage);
  },
  set_role: (world, { path: name, role }, store) => store.setRole(world.at(name), role),
  add_directory: (world, { directory }, store) => store.addDirectory(world.directory(directory)),
  remove_directory: (world, { path: name }, store) => store.removeDirectory(world.at(name)),
};

/** Where a cursor goes, as the package names it. */
function seekOf({ to, queue, offset, time_ms: timeMs }) {
  if (to !== undefined) return to;
  return timeMs === undefined ? { queue, offset: integer(offset) } : { timeMs: Number(timeMs) };
}

const cursorOf = (world, { cursor = 'main' }) => world.cursors.get(cursor);

const CURSORS = {
  async open_cursor(world, { cursor = 'main', name, topic, options }, store) {
    world.cursors.set(cursor, await store.cursor(name, topic, renamed(options)));
  },
  async poll(world, step) {
    const { max_messages: maxMessages, max_bytes: maxBytes, timeout_ms: timeoutMs = 0 } = step;
    const found = await cursorOf(world, step).poll({ maxMessages, maxBytes, timeoutMs });
    assert.deepEqual(found.failures, []);
    return {
      messages: [...found].map((message) => ({ ...answer(message), attempt: message.attempt })),
      overtaken: found.overtaken.map(({ queue, gone }) => ({ queue, from: gone.start, to: gone.end })),
    };
  },
  ack: (world, step) => cursorOf(world, step).ackAt(step.queue, integer(step.offset)),
  ack_up_to: (world, step) => cursorOf(world, step).ackUpTo(step.queue, integer(step.end)),
  commit: (world, step) => cursorOf(world, step).commit(),
  close_cursor: (world, step) => cursorOf(world, step).close(),
  seek: (world, step) => cursorOf(world, step).seek(seekOf(step)),
  lag: (world, step) => cursorOf(world, step).lag(),
  report: (world, step) => ({
    queues: cursorOf(world, step).report().queues.map(({ bounds, lag, ...row }) =>
      ({ ...row, ...bounds, lag: lag.messages })),
  }),
  cursors: (world, step, store) => ({
    cursors: store.cursors().map(({ topic, name, isOpen, lag }) =>
      ({ topic, name, is_open: isOpen, lag: lag.messages })),
  }),
  copy_cursor: (world, { topic, name, copy }, store) => store.copyCursor(topic, name, copy),
  reset_cursor: (world, step, store) => store.resetCursor(step.topic, step.name, seekOf(step)),
  delete_cursor: (world, { topic, name }, store) => store.deleteCursor(topic, name),
  import_offsets: async (world, { text }, store) =>
    ({ count: await store.importConsumerOffsets(text) }),
  export_offsets: (world, step, store) => ({ text: store.exportConsumerOffsets() }),
};

const queueOf = (world, { handle = 'main' }) => world.queues.get(handle);
const readerOf = (world, step) => queueOf(world, step).reader(step.reader);
const recordsOf = (records) => ({
  records: records.map(({ body, number, position, end }) => ({ body, number, position, end })),
});

const QUEUES = {
  queue_open(world, { handle = 'main', root, options }) {
    const given = { background: false, ...renamed(options ?? {}) };
    world.queues.set(handle, spanlog.openQueue(world.at(root), given));
  },
  queue_close: (world, step) => queueOf(world, step).close(),
  queue_flush: (world, step) => queueOf(world, step).flush(),
  queue_push: (world, step) => ({ end: queueOf(world, step).push(bytesOf(step.body)) }),
  queue_push_many: (world, step) =>
    ({ end: queueOf(world, step).pushMany(step.bodies.map(bytesOf)) }),
  async queue_pop(world, step) {
    const { max_messages: maxRecords, timeout_ms: timeoutMs = 0 } = step;
    return recordsOf(await readerOf(world, step).popMany({ maxRecords, timeoutMs }));
  },
  queue_peek(world, step) {
    const record = readerOf(world, step).peek();
    return recordsOf(record ? [record] : []);
  },
  queue_commit: (world, step) => readerOf(world, step).commitTo(integer(step.end)),
  queue_rewind: (world, step) => readerOf(world, step).rewind(),
  queue_remove_reader: (world, step) => queueOf(world, step).removeReader(step.reader),
  /** Waiting is popping here: what came is given back. */
  async queue_wait(world, step) {
    const reader = readerOf(world, step);
    if (reader.backlog().records > 0) return { told: true };
    const record = await reader.pop({ timeoutMs: step.timeout_ms });
    if (record) reader.rewind();
    return { told: record !== undefined };
  },
  queue_stat: (world, step) => queueOf(world, step).stat(),
};

Object.assign(OPERATIONS, CURSORS, QUEUES);

const worlds = [];
after(() => Promise.all(worlds.flatMap(({ stores, queues }) =>
  [...stores.values(), ...queues.values()].map((handle) => handle.close()))));

async function run(scenario) {
  const world = new World();
  worlds.push(world);
  for (const [number, step] of scenario.steps.entries()) {
    try {
      await world.step(step);
    } catch (error) {
      const told = JSON.stringify(step).slice(0, 500);
      throw new Error(`step ${number}: ${told}: ${error.message}`, { cause: error });
    }
  }
}

for (const file of fs.readdirSync(HOME).filter((name) => name.endsWith('.json')).sort()) {
  const scenario = JSON.parse(fs.readFileSync(path.join(HOME, file), 'utf8'));
  const name = path.basename(file, '.json');
  test(`scenario ${name}`, () => run(scenario));
}

test('a wrong expectation and an unknown operation are found', async () => {
  const open = { op: 'open', root: 's' };
  const append = (more) =>
    ({ op: 'append', message: { topic: 't', queue: 0, body: 'b' }, ...more });
  await run({ steps: [open, append({ expect: { queue_offset: 0 } })] });
  const wrong = [
    append({ expect: { queue_offset: 1 } }),
    append({ expect: { offset: 0 } }),
    append({ error: { code: 'invalid' } }),
    { op: 'fly' },
  ];
  for (const step of wrong) {
    await assert.rejects(run({ steps: [open, step] }), /^Error: step 1: /, JSON.stringify(step));
  }
});
