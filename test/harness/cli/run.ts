import { Readable, Writable } from 'node:stream';
import { readCliEnv } from '../../../clients/cli/src/env.ts';
import { runProgram } from '../../../clients/cli/src/program.ts';

/** Runs the command `parley` in this process, with this environment alone, and gives what it printed. */
export async function runCli(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  { isTTY = false, input = '', onOut = (_text: string) => {} } = {},
) {
  let [out, err, code] = ['', '', 0];
  const sink = (take: (text: string) => void) =>
    Object.assign(
      new Writable({
        write(chunk, _encoding, done) {
          take(String(chunk));
          done();
        },
      }),
      { isTTY },
    );
  await runProgram(args, {
    env: readCliEnv({ PARLEY_HOME: '/nonexistent/parley', ...env }),
    stdin: Readable.from(input === '' ? [] : [input]),
    stdout: sink((text) => {
      out += text;
      onOut(text);
    }),
    stderr: sink((text) => {
      err += text;
    }),
    signal: new AbortController().signal,
    calledAs: 'parley',
    calledAnywhere: 'parley',
    setExitCode(value) {
      code = value;
    },
  });
  return { out, err, code };
}
