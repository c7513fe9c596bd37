'use strict';
// Repair: what is planned, and what is done.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { test } = require('node:test');
const { RepairPlan, open, planRepair, verify } = require('spanlog');
const { SMALL, folder } = require('./folder');

/** A closed store with three messages, of which the second is damaged. */
async function damaged() {
  const root = folder();
  const store = open(root, SMALL);
  const [first, second] = ['one', 'two', 'three'].map((body) => store.append({ topic: 'orders', body: `body ${body}` }));
  await store.close();
  const file = path.join(root, 'commitlog', '0'.repeat(20));
  const bytes = fs.readFileSync(file);
  bytes.write('BODY', bytes.indexOf('body two'));
  fs.writeFileSync(file, bytes);
  return { root, file, bytes, range: { start: first.end, end: second.end } };
}

test('damage is padded over once that is asked for, and saved before', async () => {
  const { root, file, bytes, range } = await damaged();
  const parts = new Set();
  const plan = await planRepair(root, { onProgress: ({ part }) => parts.add(part) });
  assert.ok(plan instanceof RepairPlan && parts.size > 0);
  assert.equal(plan.verification.isSound, false);
  assert.deepEqual(plan.actions.map(({ action }) => action), ['pad', 'rebuild_queues']);
  assert.deepEqual([plan.actions[0].path, plan.actions[0].range], [file, range]);
  assert.deepEqual([plan.beyond, plan.isEmpty], [[], false]);
  assert.match(plan.actions[0].text, /^save \d+ bytes at position \d+/);
  assert.ok(fs.readFileSync(file).equals(bytes), 'planning changes nothing');

  const store = open(root, { ...SMALL, onDamage: 'skip' });
  await assert.rejects(plan.apply(), { code: 'SPANLOG_LOCKED' });
  await store.close();
  const { saved, recovery } = await (await planRepair(root)).apply();
  assert.equal(saved.length, 1);
  assert.equal(recovery.records, 3);
  const kept = fs.readFileSync(saved[0]);
  assert.ok(kept.includes('BODY two') && bytes.includes(kept));

  assert.equal((await verify(root)).isSound, true);
  const again = await planRepair(root);
  assert.deepEqual([again.isEmpty, again.actions], [true, []]);
  const mended = open(root, SMALL);
  const texts = [...mended.read('orders', 0, 0)].map((message) => message.text());
  assert.deepEqual(texts.filter((text) => text.startsWith('body')), ['body one', 'body three']);
  await mended.close();
});

test('a plan is carried out once, and may be given up before', async () => {
  const { root } = await damaged();
  const plan = await planRepair(root);
  await plan.apply();
  await assert.rejects(plan.apply(), { code: 'SPANLOG_INVALID' });
  const reason = new Error('enough');
  await assert.rejects(planRepair(root, { signal: AbortSignal.abort(reason) }), reason);
  const stop = () => { throw reason; };
  await assert.rejects(planRepair(root, { onProgress: stop }), reason);
  await assert.rejects(planRepair(root, { path: 'a' }), { code: 'SPANLOG_INVALID' });
  await assert.rejects(planRepair(5), TypeError);
});

test('a file of the wrong length takes two rounds', async () => {
  const root = folder();
  const store = open(root, SMALL);
  for (let number = 0; number < 50; number += 1) store.append({ topic: 'orders', body: `${number}` });
  await store.close();
  const file = path.join(root, 'commitlog', '0'.repeat(20));
  fs.truncateSync(file, 2000);
  let actions = [];
  for (let round = 0; round < 3; round += 1) {
    const plan = await planRepair(root);
    if (plan.isEmpty) break;
    actions = actions.concat(plan.actions.map(({ action }) => action));
    await plan.apply();
  }
  assert.equal(actions[0], 'resize');
  assert.ok(actions.length > 1, `${actions}`);
  assert.equal((await verify(root)).isSound, true);
});
