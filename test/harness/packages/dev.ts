import { join } from 'node:path';
import { freePort } from '../free-port.ts';
import type { Consumer } from './consumer.ts';
import { type RunningCommand, startCommand } from './start-command.ts';

/** A server of `parley dev`, in memory. */
export interface RunningDev extends RunningCommand {
  readonly url: string;
  /** What `parley env` prints. */
  readonly envFile: string;
  /** The same, parsed. */
  readonly settings: Readonly<Record<string, string>>;
}

/** The command of the packages that a consumer has installed. */
export const binOf = ({ folder }: Consumer): string => join(folder, 'node_modules/.bin/parley');

/** Starts `parley dev` of a consumer that has installed the command. It asks no question of its own. */
export async function startDev(
  consumer: Consumer,
  env: Readonly<Record<string, string>> = {},
): Promise<RunningDev> {
  const port = await freePort();
  const args = ['dev', '--memory', '--no-question', '--port', String(port)];
  const dev = startCommand(binOf(consumer), args, {
    cwd: consumer.folder,
    env: { ...consumer.env, ...env },
  });
  await dev.untilSaid(/Parley runs at/);
  const envFile = await consumer.run(binOf(consumer), 'env');
  const lines = envFile.trim().split('\n');
  const settings = Object.fromEntries(lines.map((line) => line.split(/=(.*)/s, 2) as [string, string]));
  return { ...dev, url: `http://localhost:${port}`, envFile, settings };
}
