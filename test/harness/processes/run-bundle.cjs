// Runs the bundle beside this file, from the code that V8 has kept of an earlier run: compiling costs more than the
// rest of a start. The first run that ends by itself leaves that code. Node 22 has a cache of its own for this.
const { readFileSync, renameSync, writeFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { join } = require('node:path');
const { Script } = require('node:vm');

const filename = join(__dirname, 'bundle.cjs');
const codeFile = join(__dirname, `${process.version}.code`);

function keptCode() {
  try {
    return readFileSync(codeFile);
  } catch {
    return undefined;
  }
}

const cachedData = keptCode();
const script = new Script(readFileSync(filename, 'latin1'), {
  filename,
  cachedData,
});
// V8 refuses the code of a process with other options, so that such a process leaves none.
if (cachedData === undefined && process.execArgv.length === 0) {
  process.once('exit', () => {
    const draft = `${codeFile}.${process.pid}`;
    writeFileSync(draft, script.createCachedData());
    renameSync(draft, codeFile);
  });
}
script.runInThisContext()(createRequire(filename), { exports: {} }, filename, __dirname);
