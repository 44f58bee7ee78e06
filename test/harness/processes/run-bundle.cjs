// Runs the bundle beside this file as the main module. Code that V8 kept of an earlier run is not used: pods that were started
// from it sent no spans.
const { readFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { join } = require('node:path');
const { constants, Script } = require('node:vm');

const filename = join(__dirname, 'bundle.cjs');
const script = new Script(readFileSync(filename, 'latin1'), {
  filename,
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
});
script.runInThisContext()(createRequire(filename), { exports: {} }, filename, __dirname);
