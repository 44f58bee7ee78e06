import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { chown, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from '../../../infra/check/programs.ts';
import { aptInstall } from '../../../test/harness/on-path.ts';
import { killWithParent } from '../../../test/harness/processes/child-guard.ts';
import { waitUntil } from '../../../test/harness/wait-until.ts';

/** A server of a peer. `stop` ends it by its pid and removes its folder. */
export interface PeerServer {
  stop(): Promise<void>;
}

/** Who runs a server: undefined is the user of the bench. */
export type Account = { readonly uid: number; readonly gid: number } | undefined;

/** A new temporary folder that the account owns. */
export async function createFolder(name: string, account?: Account): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `parley-${name}-`));
  if (account !== undefined) await chown(folder, account.uid, account.gid);
  return folder;
}

/** Starts a server in its folder and waits until its port accepts connections; rejects with the end of its log. */
export async function startServer({
  program,
  args,
  folder,
  port,
  account,
  env = {},
}: {
  readonly program: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly port: number;
  readonly account?: Account;
  readonly env?: Readonly<Record<string, string>>;
}): Promise<PeerServer> {
  const logFile = join(folder, 'server.log');
  await writeFile(logFile, '');
  const log = openSync(logFile, 'a');
  const child = spawn(program, args, {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', HOME: folder, ...env },
    stdio: ['ignore', log, log],
    ...account,
  });
  closeSync(log);
  killWithParent(child);
  const isRunning = () => child.pid !== undefined && child.exitCode === null && child.signalCode === null;
  const failed = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(String(error)));
    child.once('exit', (code, signal) => resolve(`it ended with ${signal ?? code}`));
  });
  const stop = async () => {
    if (isRunning()) {
      // The fast shutdown of Postgres, and an end for the others.
      child.kill('SIGINT');
      const force = setTimeout(() => child.kill('SIGKILL'), 10_000);
      await once(child, 'exit');
      clearTimeout(force);
    }
    await rm(folder, { recursive: true, force: true });
  };
  const ready = waitUntil(() => accepts(port), { what: `port ${port}`, timeoutMs: 60_000 }).then(
    () => undefined,
    String,
  );
  const failure = await Promise.race([ready, failed]);
  if (failure === undefined) return { stop };
  const tail = (await readFile(logFile, 'utf8')).split('\n').slice(-8).join(' ');
  await stop();
  throw new Error(`${program} did not start: ${failure} ${tail}`);
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

/** The program, installed with apt-get when `find` does not find it; rejects with the reason why it cannot be had. */
export async function findOrInstall(
  name: string,
  pkg: string,
  progress: (text: string) => void,
  find: () => string | undefined = () => findProgram(name),
): Promise<string> {
  const found = find();
  if (found !== undefined) return found;
  progress(`peers: no ${name}: installing the package ${pkg} with apt-get…`);
  const failure = await aptInstall(pkg);
  const installed = find();
  if (installed === undefined) throw new Error(`there is no ${name}: ${failure ?? `${pkg} has none`}`);
  return installed;
}

/** A user of the system that owns nothing of the bench, for servers that refuse to run as root. */
export async function accountOf(user: string): Promise<Account> {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = async (flag: string) => Number((await promisify(execFile)('id', [flag, user])).stdout);
  return { uid: await idOf('-u'), gid: await idOf('-g') };
}
