import { onTestFinished } from 'vitest';
import type { Consumer } from '../packages/consumer.ts';
import { type RunningCommand, startCommand } from '../packages/start-command.ts';

/** Starts a command of an example's README, waits until it has said that it is ready, and stops it after the test. */
export async function startExample(
  { folder, env }: Consumer,
  [command = '', ...args]: readonly string[],
  isReady: RegExp,
): Promise<RunningCommand> {
  const running = startCommand(command, args, { cwd: folder, env });
  onTestFinished(running.stop);
  await running.untilSaid(isReady);
  return running;
}
