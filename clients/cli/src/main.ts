import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { calledAs } from './called-as.ts';
import { readCliEnv } from './env.ts';
import { EXIT } from './exit-code.ts';
import { runProgram } from './program.ts';

const interruption = new AbortController();

/** The first Ctrl+C ends the command in order; the second one ends the process at once. */
function interrupt(): void {
  if (interruption.signal.aborted) process.exit(EXIT.interrupted);
  interruption.abort();
}

process.on('SIGINT', interrupt);
process.on('SIGTERM', interrupt);
// SIGHUP means that the terminal was closed; started services must then end too.
process.on('SIGHUP', interrupt);
/** How long a command may take to end after the reader of its output has closed the pipe, in ms. */
const CLOSED_MS = 10_000;
let closedBy: number | undefined;

// A reader such as `head` may close the pipe. The command then ends in order, so that no process that it started survives.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (closedBy !== undefined) return;
  closedBy = error.code === 'EPIPE' ? EXIT.accepted : EXIT.failed;
  process.exitCode = closedBy;
  interruption.abort();
  setTimeout(() => process.exit(), CLOSED_MS).unref();
});

/** The executable of the package, or the file itself if the program was bundled into one file. */
function installedProgram(): string {
  const executable = fileURLToPath(new URL('../bin/parley.js', import.meta.url));
  return existsSync(executable) ? executable : (process.argv[1] ?? executable);
}

const env = readCliEnv();

const start = { program: installedProgram(), path: env.searchPath, node: process.execPath };

void runProgram(process.argv.slice(2), {
  env,
  calledAs: calledAs({ ...start, folder: process.cwd() }),
  calledAnywhere: calledAs({ ...start, folder: undefined }),
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  signal: interruption.signal,
  setExitCode(code) {
    process.exitCode = closedBy ?? code;
  },
});
