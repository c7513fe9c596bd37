'use strict';
// Written in one language, read in another.

const assert = require('node:assert/strict');
const { execFileSync } = require('node:child_process');
const { test } = require('node:test');
const { open } = require('spanlog');
const { SMALL, folder } = require('./folder');

const COMMAND = process.env.SPANLOG_COMMAND;
const skip = COMMAND === undefined && 'SPANLOG_COMMAND does not name the command';
const command = (...args) => execFileSync(COMMAND, args, { encoding: 'utf8' });

test('what the command wrote is read here', { skip }, async () => {
  const root = folder();
  const to = ['--root', root, '--topic', 'orders', '--queue', '2'];
  command('append', ...to, '--tags', 'drink', '--keys', 'order-7', 'caf\u00e9');
  command('append', ...to, '--property', 'region=north', '');
  const store = open(root);
  assert.equal(store.recovery.wasClean, true);
  const [first, second] = store.read('orders', 2, 0);
  assert.deepEqual([first.text(), first.tags, first.keys], ['caf\u00e9', 'drink', ['order-7']]);
  assert.deepEqual([second.text(), second.properties.region], ['', 'north']);
  await store.close();
});

test('what was written here is read by the command', { skip }, async () => {
  const root = folder();
  const store = open(root, SMALL);
  const bodies = Array.from({ length: 300 }, (_, at) => `number ${at} \u{1f375}`);
  store.appendMany(bodies.slice(0, 200).map((body) => ({ topic: 'orders', body, tags: 'drink' })));
  for (const body of bodies.slice(200)) await store.appendDurable({ topic: 'orders', body });
  await store.close();
  const printed = command('read', '--root', root, '--topic', 'orders', '--bodies');
  assert.deepEqual(printed.trimEnd().split('\n'), bodies);
});

test('the two write in turn', { skip }, async () => {
  const root = folder();
  for (let round = 0; round < 3; round += 1) {
    const store = open(root, SMALL);
    store.append({ topic: 'orders', body: `node ${round}` });
    store[Symbol.dispose]();
    command('append', '--root', root, '--topic', 'orders', `command ${round}`);
  }
  const store = open(root, SMALL);
  const bodies = [...store.read('orders', 0, 0)].map((message) => message.text());
  assert.deepEqual(bodies, [0, 1, 2].flatMap((round) => [`node ${round}`, `command ${round}`]));
  await store.close();
});
