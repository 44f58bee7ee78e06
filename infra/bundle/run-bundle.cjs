// Runs the bundle beside this file, from the code that V8 has kept of an earlier run: compiling costs more than the
// rest of a start. The first run that ends by itself leaves that code, if it may write there. The cache of Node 22 does the
// same, but Node 20 has no such cache.
const { readFileSync, renameSync, writeFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { join } = require('node:path');
const { cachedDataVersionTag } = require('node:v8');
const { Script } = require('node:vm');

// V8 recognizes code of another source by the length of the source alone, so the file name holds a digest.
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
    // An image is read-only, and holds its code already.
  }
}

function load() {
  const cachedData = keptCode();
  if (cachedData === undefined) process.once('exit', keepCode);
  return new Script(readFileSync(filename, 'latin1'), { filename, cachedData });
}

const script = load();
script.runInThisContext()(createRequire(filename), { exports: {} }, filename, __dirname);
