'use strict';
// Options and paths, as the native half takes them.

const { fileURLToPath } = require('node:url');
const { wrongType } = require('./errors');
const { questionOf } = require('./numbers');

function pathOf(name, path) {
  if (path instanceof URL) return fileURLToPath(path);
  if (typeof path === 'string') return path;
  throw wrongType(`${name} must be a string or a file URL, not ${typeof path}`);
}

/** Options as the native half takes them. */
function optionsOf(options = {}) {
  if (typeof options !== 'object' || options === null) throw wrongType('options must be an object');
  const { paths } = options;
  if (paths === undefined) return questionOf(options);
  if (!Array.isArray(paths)) throw wrongType('paths must be an array');
  return questionOf({ ...options, paths: paths.map(directoryOf) });
}

function directoryOf(given) {
  if (typeof given === 'string' || given instanceof URL) return pathOf('path', given);
  if (typeof given !== 'object' || given === null) throw wrongType('a path must be a string');
  return { ...given, path: pathOf('path', given.path) };
}

function checkText(name, text) {
  if (typeof text !== 'string') throw wrongType(`${name} must be a string, not ${typeof text}`);
  return text;
}

module.exports = { checkText, directoryOf, optionsOf, pathOf };
