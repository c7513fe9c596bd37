'use strict';
// Temporary folders that go when the tests of a file are over.

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const folders = [];

/** A new folder. */
function folder() {
  const name = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'spanlog-node-')));
  folders.push(name);
  return name;
}

process.on('exit', () => {
  for (const name of folders) fs.rmSync(name, { recursive: true, force: true });
});

/** Options of small stores. */
const SMALL = { segmentLenBytes: 1 << 16, queueFileLenBytes: 2000 };

module.exports = { SMALL, folder };
