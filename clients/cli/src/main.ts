import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { calledAs } from './called-as.ts';
import { readCliEnv } from './env.ts';
import { EXIT } from './exit-code.ts';
import { runProgram } from './program.ts';

const interruption = new AbortController();

/** The first Ctrl+C ends the command in order; the second one ends the process. */
function interrupt(): void {
  if (interruption.signal.aborted) process.exit(EXIT.interrupted);
  interruption.abort();
}

process.on('SIGINT', interrupt);
process.on('SIGTERM', interrupt);
// The terminal was closed; services that were started must not stay.
process.on('SIGHUP', interrupt);
// A reader such as `head` may close the pipe.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? EXIT.accepted : EXIT.failed);
});

/** The executable of the package; a program that was bundled into one file is that file. */
function installedProgram(): string {
  const executable = fileURLToPath(new URL('../bin/parley.js', import.meta.url));
  return existsSync(executable) ? executable : (process.argv[1] ?? executable);
}

const env = readCliEnv();

void runProgram(process.argv.slice(2), {
  env,
  calledAs: calledAs({
    program: installedProgram(),
    folder: process.cwd(),
    path: env.searchPath,
    node: process.execPath,
  }),
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  signal: interruption.signal,
  setExitCode(code) {
    process.exitCode = code;
  },
});
