import { createConnection } from 'node:net';

const TIMEOUT_MS = 800;
const LOCAL_REDIS = 'redis://127.0.0.1:6379';
/** The oldest Redis that Parley runs on. */
export const REDIS_MAJOR_MIN = 7;

export interface RedisProbe {
  readonly isReached: boolean;
  /** What `PING` gave: `PONG`, or the code of an error such as `NOAUTH`. */
  readonly reply?: string;
  /** The clock of Redis, in ms since 1970. */
  readonly timeMs?: number;
  readonly version?: string;
}

/**
 * Speaks to a Redis without credentials over a plain connection: enough to find one on this machine and to compare
 * clocks. A TLS address is only connected to.
 */
export function probeRedis(url: string, timeoutMs = TIMEOUT_MS): Promise<RedisProbe> {
  const { hostname, port, protocol, username, password } = new URL(url);
  const isPlain = protocol === 'redis:';
  return new Promise((resolve) => {
    const socket = createConnection({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 6379) });
    let text = '';
    const end = (probe: RedisProbe) => {
      socket.destroy();
      resolve(probe);
    };
    const timer = setTimeout(() => end({ isReached: false }), timeoutMs);
    socket.once('close', () => clearTimeout(timer));
    socket.once('error', () => end({ isReached: false }));
    socket.once('connect', () => {
      if (!isPlain) return end({ isReached: true });
      const auth =
        password === ''
          ? []
          : [
              [
                'AUTH',
                ...(username === '' ? [] : [decodeURIComponent(username)]),
                decodeURIComponent(password),
              ],
            ];
      socket.write([...auth, ['TIME'], ['INFO', 'server'], ['PING']].map(encode).join(''));
    });
    socket.on('data', (chunk) => {
      text += chunk.toString('utf8');
      const reply = /(?:^|\r\n)\+(PONG)\r\n/.exec(text)?.[1] ?? /(?:^|\r\n)-(\w+)/.exec(text)?.[1];
      if (reply === undefined) return;
      const time = /\*2\r\n\$\d+\r\n(\d+)\r\n\$\d+\r\n(\d+)\r\n/.exec(text);
      const version = /redis_version:([\d.]+)/.exec(text)?.[1];
      end({
        isReached: true,
        reply,
        ...(time !== null && { timeMs: Number(time[1]) * 1_000 + Math.floor(Number(time[2]) / 1_000) }),
        ...(version !== undefined && { version }),
      });
    });
  });
}

/** What a search for a Redis on this machine led to. */
export interface RedisSearch {
  /** The address of one that can be used as it is. */
  readonly url?: string;
  /** Why one that is there is not used, and how it can be. */
  readonly refusal?: string;
}

/** Looks for a Redis at an address, by default on this machine. Finds neither where nothing answers. */
export async function findRedis(url = LOCAL_REDIS, timeoutMs = TIMEOUT_MS): Promise<RedisSearch> {
  const { isReached, reply, version } = await probeRedis(url, timeoutMs);
  if (!isReached) return {};
  const { host } = new URL(url);
  if (reply === 'NOAUTH')
    return {
      refusal: `The Redis at ${host} needs a password. To use it, set REDIS_URL to its address with the password, such as redis://:password@${host}.`,
    };
  if (reply === 'WRONGPASS')
    return { refusal: `The Redis at ${host} refuses the user or the password of REDIS_URL.` };
  if (isOldRedis(version))
    return { refusal: `The Redis at ${host} has version ${version}; ${REDIS_MAJOR_MIN} or later is needed.` };
  // Over TLS there is no reply; NOPERM says that the credentials are right.
  if (reply === undefined || reply === 'PONG' || reply === 'NOPERM') return { url };
  return { refusal: `The Redis at ${host} cannot be used: it replies ${reply}.` };
}

/** True for a version that is too old for Parley; a server that hides its version counts as recent. */
export function isOldRedis(version: string | undefined): boolean {
  return version !== undefined && Number(version.split('.')[0]) < REDIS_MAJOR_MIN;
}

function encode(command: readonly string[]): string {
  return `*${command.length}\r\n${command.map((part) => `$${Buffer.byteLength(part)}\r\n${part}\r\n`).join('')}`;
}
