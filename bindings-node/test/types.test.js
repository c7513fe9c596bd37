'use strict';
// The declarations, as a program in TypeScript sees them.

const assert = require('node:assert/strict');
const { execFile } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { test } = require('node:test');
const { promisify } = require('node:util');
const spanlog = require('spanlog');

const TOOLS = process.env.SPANLOG_TOOLS;
const skip = TOOLS === undefined && 'SPANLOG_TOOLS does not say where the compiler is';

/** What the compiler says of a program beside this file. */
async function compile(file) {
  const options = [
    '--noEmit', '--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess',
    '--module', 'node16', '--target', 'es2022', '--lib', 'es2022,esnext.disposable',
    '--types', 'node', '--typeRoots', path.join(TOOLS, '@types'),
  ];
  const compiler = path.join(TOOLS, 'typescript/bin/tsc');
  const { stdout } = await promisify(execFile)(process.execPath, [compiler, ...options, file]);
  return stdout;
}

test('the declarations allow what works and refuse what does not', { skip }, async () => {
  const outcome = await compile(path.join(__dirname, 'types.ts')).catch(({ stdout }) => stdout);
  assert.equal(outcome, '');
});

test('a wrong use is found', { skip }, async () => {
  const file = path.join(__dirname, 'wrong.ts');
  fs.writeFileSync(file, "import { open } from 'spanlog';\nopen(5);\n");
  await assert.rejects(compile(file), ({ stdout }) => /wrong\.ts\(2,6\): error TS2345/.test(stdout));
});

test('what is exported is what is declared', () => {
  const declared = fs.readFileSync(require.resolve('spanlog').replace(/\.js$/, '.d.ts'), 'utf8');
  const names = [...declared.matchAll(/^export (?:class|function) (\w+)/gm)].map((found) => found[1]);
  assert.deepEqual(new Set(names), new Set(Object.keys(spanlog)));
  const classes = Object.keys(spanlog).filter((name) => /^[A-Z]/.test(name));
  for (const name of classes.filter((it) => it !== 'SpanlogError')) {
    const members = Reflect.ownKeys(spanlog[name].prototype).filter((it) => typeof it === 'string');
    const body = declared.slice(declared.indexOf(`export class ${name} `)).split('\n}\n')[0];
    for (const member of members.filter((it) => it !== 'constructor')) {
      assert.match(body, new RegExp(`^  (?:readonly )?${member}[(?:]`, 'm'), `${name}.${member}`);
    }
  }
});

test('modules of both kinds import it by name', async () => {
  const imported = await import('spanlog');
  for (const name of Object.keys(spanlog)) assert.equal(imported[name], spanlog[name], name);
});
