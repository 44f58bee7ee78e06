import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../free-port.ts';
import { killWithParent } from '../processes/child-guard.ts';
import { waitUntil } from '../wait-until.ts';
import { ensureRedisServer } from './ensure-redis-server.ts';
import { infoFields, withRedis } from './redis-command.ts';

export type RedisOptions = {
  port?: number;
  /** Kept by `stop()` when given; else a temporary directory that `stop()` removes. */
  dir?: string;
  /** Settings as on redis-server's command line: `['--min-replicas-to-write', '1']`. They override ours. */
  args?: string[];
  /** Path of redis-server; found (or installed) when absent. */
  binary?: string;
  /** Runs the same binary as a Sentinel. */
  sentinel?: boolean;
};

/** One redis-server process on 127.0.0.1, in its own directory. `port`, `url` and `dir` outlive a restart. */
export type RedisServer = {
  readonly port: number;
  readonly url: string;
  readonly dir: string;
  /** Of the process running now, or of the last one. */
  readonly pid: number;
  /** False from `kill9()` or `stop()` on; a paused server counts as running. */
  readonly running: boolean;
  readonly paused: boolean;
  /** SIGKILL; resolves when the process is gone. What Redis had written to its files stays. */
  kill9(): Promise<void>;
  /** Starts again from the same directory and port (ending a running one with SIGTERM first); resolves at PONG. */
  restart(): Promise<void>;
  /** SIGSTOP: connections stay open and nothing answers. */
  pause(): void;
  /** SIGCONT. */
  resume(): void;
  /** Ends the process, in whatever state it is, and removes its temporary directory. Safe to repeat. */
  stop(): Promise<void>;
};

const START_MS = 60_000;
const STOP_MS = 15_000;

/**
 * Starts a redis-server with an AOF fsynced every second, and waits until it answers PING. Without `port` a free
 * one is taken, and another one when a stranger was faster. Rejects with the end of Redis' own log.
 */
export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const binary = options.binary ?? (await ensureRedisServer());
  if (!binary) throw new Error('no redis-server on the PATH, and it could not be installed');
  for (let attempt = 1; ; attempt++) {
    const port = options.port ?? (await freePort());
    const dir = options.dir ?? (await mkdtemp(join(tmpdir(), `parley-redis-${port}-`)));
    const server = createServer(binary, port, dir, options);
    try {
      await server.restart();
      return server;
    } catch (error) {
      await server.stop();
      const taken = String(error).includes('Address already in use');
      if (!taken || options.port !== undefined || attempt > 5) throw error;
    }
  }
}

function createServer(binary: string, port: number, dir: string, options: RedisOptions): RedisServer {
  let child: ChildProcess | undefined;
  let paused = false;
  const running = () => child !== undefined && child.exitCode === null && child.signalCode === null;
  const signal = (name: NodeJS.Signals) => {
    if (running()) child?.kill(name);
  };
  const end = async (name: NodeJS.Signals) => {
    if (!child || !running()) return;
    const gone = once(child, 'exit');
    child.kill(name);
    // A stopped process keeps any other signal waiting; SIGKILL needs no help and must not let it run on.
    if (name !== 'SIGKILL') child.kill('SIGCONT');
    paused = false;
    const late = new AbortController();
    const force = sleep(STOP_MS, undefined, { signal: late.signal }).then(
      () => child?.kill('SIGKILL'),
      () => undefined,
    );
    await gone;
    late.abort();
    await force;
  };
  return {
    port,
    dir,
    url: `redis://127.0.0.1:${port}`,
    get pid() {
      return child?.pid ?? 0;
    },
    get running() {
      return running();
    },
    get paused() {
      return paused;
    },
    kill9: () => end('SIGKILL'),
    async restart() {
      await end('SIGTERM');
      child = await spawnServer(binary, port, dir, options);
    },
    pause() {
      paused = running();
      signal('SIGSTOP');
    },
    resume() {
      paused = false;
      signal('SIGCONT');
    },
    async stop() {
      await end(options.dir === undefined ? 'SIGKILL' : 'SIGTERM');
      if (options.dir === undefined) await rm(dir, { recursive: true, force: true });
    },
  };
}

async function spawnServer(
  binary: string,
  port: number,
  dir: string,
  options: RedisOptions,
): Promise<ChildProcess> {
  const conf = join(dir, 'redis.conf');
  // Written once: a restarted server continues with the changes of Sentinel and CONFIG REWRITE.
  await writeFile(conf, config(port, options), { flag: 'wx' }).catch(() => undefined);
  const logFile = join(dir, 'redis.log');
  await writeFile(logFile, '');
  const log = openSync(logFile, 'a');
  const child = spawn(binary, options.sentinel ? [conf, '--sentinel'] : [conf], {
    cwd: dir,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  killWithParent(child);
  let failed: unknown;
  child.once('error', (error) => {
    failed = error;
  });
  child.once('exit', (code, signal) => {
    failed ??= `it ended with ${signal ?? code}`;
  });
  try {
    await waitUntil(() => failed !== undefined || answers(port, child.pid), {
      what: `PONG from redis-server on port ${port}`,
      timeoutMs: START_MS,
    });
    if (failed !== undefined) throw new Error(String(failed));
    return child;
  } catch (error) {
    if (child.kill('SIGKILL')) await once(child, 'exit');
    const tail = (await readFile(logFile, 'utf8')).split('\n').slice(-8).join('\n');
    throw new Error(`redis-server on port ${port} did not start: ${String(error)}\n${tail}`);
  }
}

/** Whether it is this very process that answers: a stranger may have been faster at taking the port. */
async function answers(port: number, pid: number | undefined): Promise<boolean> {
  try {
    return await withRedis(port, async (redis) => {
      const pong = await redis.ping();
      return pong === 'PONG' && infoFields(await redis.info('server')).process_id === String(pid);
    });
  } catch (error) {
    // Up, and a password was set in `args`.
    if (String(error).includes('NOAUTH')) return true;
    throw error;
  }
}

function config(port: number, { args = [], sentinel = false }: RedisOptions): string {
  const lines = [`port ${port}`, 'bind 127.0.0.1', 'daemonize no'];
  if (!sentinel) lines.push('appendonly yes', 'appendfsync everysec', 'save ""');
  for (const arg of args) {
    if (arg.startsWith('--')) lines.push(arg.slice(2));
    else lines.push(`${lines.pop() ?? ''} ${arg === '' ? '""' : arg}`);
  }
  return `${lines.join('\n')}\n`;
}
