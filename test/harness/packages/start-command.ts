import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { killWithParent } from '../processes/child-guard.ts';
import { waitUntil } from '../wait-until.ts';

/** A command that runs until it is stopped. */
export interface RunningCommand {
  /** Waits until its output has a match, and resolves with that. Rejects with the output when the command ends before. */
  untilSaid(pattern: RegExp): Promise<RegExpExecArray>;
  /** Waits until it has ended by itself. Resolves with its output; rejects with that when it has failed. */
  untilEnded(): Promise<string>;
  stop(): Promise<void>;
  /** SIGKILL. Resolves with its output. */
  kill(): Promise<string>;
}

/** Starts a command. */
export function startCommand(
  command: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): RunningCommand {
  // With a group of its own: npx and shells do not pass signals on to what they run.
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const group = -(child.pid ?? Number.NaN);
  killWithParent(child, group);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const ended = once(child, 'close');
  ended.catch(() => undefined);
  const end = async (signal: NodeJS.Signals) => {
    try {
      process.kill(group, signal);
    } catch {
      // All of the group have ended.
    }
    await ended;
  };
  return {
    async untilSaid(pattern) {
      await waitUntil(() => pattern.test(output) || child.exitCode !== null, { what: String(pattern) });
      const match = pattern.exec(output);
      if (match === null) throw new Error(`${command} ${args.join(' ')} ended:\n${output}`);
      return match;
    },
    async untilEnded() {
      await ended;
      if (child.exitCode !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${output}`);
      return output;
    },
    async stop() {
      await end('SIGTERM');
    },
    async kill() {
      await end('SIGKILL');
      return output;
    },
  };
}
