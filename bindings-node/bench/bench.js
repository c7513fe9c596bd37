'use strict';
// Measures the package beside lmdb-js, in turns and in one run: medians of five rounds after one
// that warms memory. Usage: bench.js FOLDER [NAME...], where the package is installed in FOLDER.
//
// Messages have a topic of 16 characters, one of eight queues, and tags. Every time of appending
// ends when all of it can be read. lmdb-js writes its way that is fastest here, unflushed as well:
// `put`, whose transactions it gathers itself; in batches `transactionSync`; reads by `getRange`.

const fs = require('node:fs');
const { createRequire } = require('node:module');
const path = require('node:path');
const lmdb = require('lmdb');

const [folder, ...names] = process.argv.slice(2);
const { open } = createRequire(path.join(path.resolve(folder), 'package.json'))('spanlog');

const QUICK = process.env.BENCH_QUICK === '1';
const HOME = path.resolve(process.env.BENCH_DIR ?? 'target/bench', 'node');
const JSON_FILE = process.env.BENCH_JSON ?? 'target/bench.json';
const ROUNDS = QUICK ? 1 : 5;
const COUNT = QUICK ? 2000 : 200_000;
const MANY = 100;

const body = (size) => Buffer.alloc(size, 'x');
const message = (number, bytes) =>
  ({ topic: 'benchmark-orders', queue: number % 8, body: bytes, tags: 'drink' });

/** Messages per second. */
async function rate(count, work) {
  const start = process.hrtime.bigint();
  await work();
  return count / (Number(process.hrtime.bigint() - start) / 1e9);
}

/** Runs `work` on something that is opened in an empty folder, and closes it. */
async function inNew(make, work) {
  fs.rmSync(HOME, { recursive: true, force: true });
  fs.mkdirSync(HOME, { recursive: true });
  const opened = make();
  try {
    return await work(opened);
  } finally {
    await opened.close();
    fs.rmSync(HOME, { recursive: true, force: true });
  }
}

const store = () => open(path.join(HOME, 'store'));
const database = () =>
  lmdb.open({ path: HOME, encoding: 'binary', noSync: true, mapSize: 8 * 2 ** 30 });

function append(size) {
  const bytes = body(size);
  return inNew(store, (opened) => rate(COUNT, () => {
    for (let number = 0; number < COUNT; number += 1) opened.append(message(number, bytes));
    return opened.catchUp();
  }));
}

function put(size) {
  const bytes = body(size);
  return inNew(database, (opened) => rate(COUNT, async () => {
    for (let number = 0; number < COUNT; number += 1) {
      const done = opened.put(number, bytes);
      // It keeps what is not written yet in memory.
      if (number % 5000 === 4999) await done;
    }
    await opened.committed;
  }));
}

function appendMany(size) {
  const bytes = body(size);
  return inNew(store, (opened) => rate(COUNT, () => {
    for (let number = 0; number < COUNT; number += MANY) {
      const batch = [];
      for (let i = 0; i < MANY; i += 1) batch.push(message(number / MANY, bytes));
      opened.appendMany(batch);
    }
    return opened.catchUp();
  }));
}

function putMany(size) {
  const bytes = body(size);
  return inNew(database, (opened) => rate(COUNT, () => {
    for (let number = 0; number < COUNT; number += MANY) {
      opened.transactionSync(() => {
        for (let i = 0; i < MANY; i += 1) opened.putSync(number + i, bytes);
      });
    }
  }));
}

function read(size) {
  const bytes = body(size);
  return inNew(store, async (opened) => {
    for (let number = 0; number < COUNT; number += 1) opened.append(message(0, bytes));
    await opened.catchUp();
    return rate(COUNT, () => {
      let next = 0n;
      let sum = 0;
      for (;;) {
        const batch = opened.read('benchmark-orders', 0, next);
        if (batch.length === 0) break;
        for (const found of batch) sum += found.body.length;
        next = batch.next;
      }
      if (sum !== COUNT * size) throw new Error(`read ${sum} bytes`);
    });
  });
}

function getRange(size) {
  const bytes = body(size);
  return inNew(database, async (opened) => {
    opened.transactionSync(() => {
      for (let number = 0; number < COUNT; number += 1) opened.putSync(number, bytes);
    });
    return rate(COUNT, () => {
      let sum = 0;
      for (const { value } of opened.getRange({})) sum += value.length;
      if (sum !== COUNT * size) throw new Error(`read ${sum} bytes`);
    });
  });
}

/** What is measured: ours, its baseline, what is aimed at. */
const ROWS = {
  node_append_1k: [() => append(1024), () => put(1024), 0.8e6],
  node_append_many_128: [() => appendMany(128), () => putMany(128), 2e6],
  node_read_1k: [() => read(1024), () => getRange(1024), 1e6],
};

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

async function measure(name) {
  const [ours, baseline] = ROWS[name];
  const sides = [[], []];
  for (let round = QUICK ? 1 : 0; round <= ROUNDS; round += 1) {
    for (const [at, side] of [ours, baseline].entries()) {
      const value = await side();
      if (round > 0) sides[at].push(value);
    }
  }
  const [value, base] = sides.map(median);
  return { name, unit: 'msgs/s', value, baseline: base, ratio: value / base };
}

/** Replaces our rows in the list that the engine's benchmarks wrote. */
function write(rows) {
  const others = fs.existsSync(JSON_FILE) ? JSON.parse(fs.readFileSync(JSON_FILE, 'utf8')) : [];
  const kept = others.filter((row) => rows.every(({ name }) => name !== row.name));
  const lines = [...kept, ...rows].map((row) => `  ${JSON.stringify(row)}`);
  fs.mkdirSync(path.dirname(JSON_FILE), { recursive: true });
  fs.writeFileSync(JSON_FILE, `[\n${lines.join(',\n')}\n]\n`);
}

async function main() {
  const unknown = names.find((name) => !(name in ROWS));
  if (unknown) throw new Error(`no figure is called ${unknown}: ${Object.keys(ROWS).join(', ')}`);
  const rows = [];
  const million = (value) => `${(value / 1e6).toFixed(2)} M/s`;
  for (const name of names.length > 0 ? names : Object.keys(ROWS)) {
    const row = await measure(name);
    rows.push(row);
    const met = row.value >= ROWS[name][2] ? 'met' : 'MISSED';
    console.log(`${name}: ${million(row.value)}, lmdb-js ${million(row.baseline)}, `
      + `${row.ratio.toFixed(2)} times; aimed at ${million(ROWS[name][2])}: ${met}`);
  }
  write(rows);
}

main().catch((error) => {
  console.error(`bench: ${error.message}`);
  process.exitCode = 1;
});
