'use strict';
// Programs that a test runs in processes of their own.

const { execFile, spawn } = require('node:child_process');
const { promisify } = require('node:util');

/** Code before which `spanlog` and the arguments are there. */
const PRELUDE = `
  const spanlog = require(${JSON.stringify(require.resolve('spanlog'))});
  const [root, ...args] = process.argv.slice(1);
`;

/** Runs code in a process, which has to end by itself; returns what it printed. */
async function run(code, root, { flags = [], timeout = 60_000 } = {}) {
  const args = [...flags, '-e', PRELUDE + code, root];
  // One arena: how much each of many keeps differs from run to run.
  const env = { ...process.env, MALLOC_ARENA_MAX: '1' };
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout, env });
  return stdout;
}

/** Starts code in a process. */
function start(code, root) {
  const stdio = ['ignore', 'pipe', 'inherit'];
  return spawn(process.execPath, ['-e', PRELUDE + code, root], { stdio });
}

module.exports = { run, start };
