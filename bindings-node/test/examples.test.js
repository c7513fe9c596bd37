'use strict';
// Every example runs and says what it promises, and so does the README's.

const assert = require('node:assert/strict');
const { spawn } = require('node:child_process');
const { once } = require('node:events');
const fs = require('node:fs');
const path = require('node:path');
const { test } = require('node:test');
const { open, openQueue } = require('spanlog');
const { folder } = require('./folder');

const HOME = path.join(__dirname, '../examples');
const README = path.join(__dirname, '../README.md');

function start(program, ...args) {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  child.text = '';
  child.stdout.on('data', (text) => { child.text += text; });
  return child;
}

/** Waits until a program has printed something. */
async function printed(child, pattern) {
  while (!pattern.test(child.text)) await once(child.stdout, 'data');
  return pattern.exec(child.text);
}

async function run(program, ...args) {
  const child = start(program, ...args);
  const [code] = await once(child, 'close');
  assert.equal(code, 0, child.text);
  return child.text;
}

test('examples are short', () => {
  for (const file of fs.readdirSync(HOME)) {
    const lines = fs.readFileSync(path.join(HOME, file), 'utf8').split('\n').length - 1;
    assert.ok(lines <= 60, `${file} has ${lines} lines`);
  }
});

test('quickstart reads back what it appended', async () => {
  const text = await run(path.join(HOME, 'quickstart.mjs'), folder());
  assert.match(text, /coffee is message 1 at \d+\n0: tea \[drink\]\n/);
  assert.match(text, /3: milk \[drink\]\nread on at 4\n/);
});

test('durable flushes before it says so', async () => {
  const text = await run(path.join(HOME, 'durable.mjs'), folder());
  assert.match(text, /messages up to 99 are durable\nboth bookings are durable from 0 on\n/);
  const [, flushed, appended] = /durable up to (\d+) of (\d+)/.exec(text);
  assert.equal(flushed, appended);
  assert.match(text, /refused: SPANLOG_TOO_LARGE, the limit is 4194304/);
});

test('many_disks spreads segments and drains one', async () => {
  const text = await run(path.join(HOME, 'many_disks.mjs'), folder());
  assert.match(text, /shared: draining, \d+ % used, \d segments/);
  assert.match(text, /segment 0: (?:kept|dropped)/);
  assert.match(text, /4 queues over \d segments/);
});

test('tail follows what is appended, and ends with a signal', async () => {
  const root = folder();
  const store = open(root);
  for (const body of ['tea', 'cocoa']) store.append({ topic: 'orders', body });
  await store.close();
  const text = await run(path.join(HOME, 'tail.mjs'), root, 'orders', '0', '2');
  assert.match(text, /^0 \S+Z tea\n1 \S+Z cocoa\n$/);
  const child = start(path.join(HOME, 'tail.mjs'), root, 'demo');
  await printed(child, /^0 \S+Z line 1\n/);
  child.kill('SIGINT');
  const [code] = await once(child, 'close');
  assert.equal(code, 0);
});

test('jobs come again until they work or have failed three times', async () => {
  const text = await run(path.join(HOME, 'jobs.mjs'), folder());
  assert.equal(text, 'done: DRY, FLAKY, FOLD, WASH\nfailed: broken because it did not work\n');
});

test('queue hands everything to its second thread, also in a second run', async () => {
  const root = folder();
  const text = await run(path.join(HOME, 'queue.mjs'), root, '5000');
  assert.match(text, /^0 records are left of the last run, for 0 readers\n/);
  assert.match(text, /^took 5000, on average 0\.\d$/m);
  assert.match(text, /^pushed 5000; \d+ bytes wait, \d+ are mapped$/m);
  assert.match(text, /^0 records are left$/m);
  const left = openQueue(root);
  left.push('{"load":0.5}');
  await left.close();
  assert.match(await run(path.join(HOME, 'queue.mjs'), root, '10'), /^1 records .*1 readers\n[^]*^took 11,/m);
});

/** Events of a stream, one by one. */
async function* events(url, headers, signal) {
  const response = await fetch(url, { headers, signal });
  assert.equal(response.headers.get('content-type'), 'text/event-stream');
  let text = '';
  for await (const part of response.body.pipeThrough(new TextDecoderStream())) {
    const whole = (text + part).split('\n\n');
    text = whole.pop();
    yield* whole;
  }
}

test('webhooks stores what is posted and streams it back', async () => {
  const root = folder();
  const child = start(path.join(HOME, 'webhooks.mjs'), root, '0');
  const [, port] = await printed(child, /listening on (\d+)/);
  const at = (name) => `http://localhost:${port}/${name}`;
  const post = async (body) => {
    const response = await fetch(at('hooks/payments'), { method: 'POST', body });
    return [response.status, await response.text()];
  };
  assert.deepEqual(await post('{"paid": true}'), [202, '0\n']);
  const stop = new AbortController();
  const stream = events(at('streams/payments'), {}, stop.signal);
  assert.equal((await stream.next()).value, 'id: 0\ndata: {"paid": true}');
  assert.deepEqual(await post('two\nlines'), [202, '1\n']);
  assert.equal((await stream.next()).value, 'id: 1\ndata: two\ndata: lines');
  stop.abort();
  const later = events(at('streams/payments'), { 'last-event-id': '0' });
  assert.equal((await later.next()).value, 'id: 1\ndata: two\ndata: lines');
  assert.equal((await post(Buffer.alloc(2 << 20)))[0], 413);
  assert.equal((await fetch(at('elsewhere'))).status, 404);
  child.kill('SIGTERM');
  const [code] = await once(child, 'close');
  assert.equal(code, 0);
  const store = open(root);
  assert.equal(store.recovery.wasClean, true);
  assert.equal(store.bounds('payments').max, 2n);
  await store.close();
});

test("the README's example runs as printed", async () => {
  const text = fs.readFileSync(README, 'utf8');
  const [, code] = /^### Node\.js\n[\s\S]*?^```js\n([\s\S]*?)^```$/m.exec(text);
  assert.ok(code.trimEnd().split('\n').length <= 12);
  const home = folder();
  const program = path.join(__dirname, 'readme.mjs');
  fs.writeFileSync(program, code.replaceAll('/var/lib/app', home).replaceAll('/mnt', home));
  assert.equal(await run(program), '0n tea\n1n survives a loss of power\n');
});
