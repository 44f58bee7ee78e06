// Runs the bundle in the same folder, from the compiled code that V8 cached in an earlier run: compiling takes longer
// than the rest of a start. The first run that exits regularly writes that cache, if it may write to the folder. Node
// 22 has such a cache of its own, but Node 20 has none.
const { readFileSync, renameSync, writeFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { join } = require('node:path');
const { cachedDataVersionTag } = require('node:v8');
const { Script } = require('node:vm');

// V8 recognizes the code of another source only by the length of the source, so the file name contains a digest.
const BUNDLE = 'digest of the bundle';
const filename = join(__dirname, 'bundle.cjs');
// The tag covers the version of V8, its options and the processor.
const codeFile = join(__dirname, `${BUNDLE}.${cachedDataVersionTag()}.code`);

function keptCode() {
  try {
    return readFileSync(codeFile);
  } catch {
    return undefined;
  }
}

function keepCode() {
  const draft = `${codeFile}.${process.pid}`;
  try {
    writeFileSync(draft, script.createCachedData());
    renameSync(draft, codeFile);
  } catch {
    // An image is read-only, and already contains the cache.
  }
}

function load() {
  const cachedData = keptCode();
  if (cachedData === undefined) process.once('exit', keepCode);
  return new Script(readFileSync(filename, 'latin1'), { filename, cachedData });
}

const script = load();
script.runInThisContext()(createRequire(filename), { exports: {} }, filename, __dirname);
