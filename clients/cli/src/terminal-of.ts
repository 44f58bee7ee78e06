import type { CliContext } from './context.ts';
import type { TerminalStreams } from './terminal/screen.ts';

/** The terminal of the process; undefined when input or output is piped. */
export function terminalOf({ stdin, stdout }: CliContext): TerminalStreams | undefined {
  if (stdin.isTTY !== true || stdout.isTTY !== true) return undefined;
  return { input: stdin as NodeJS.ReadStream, output: stdout as NodeJS.WriteStream };
}
