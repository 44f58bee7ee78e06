import { fileURLToPath } from 'node:url';
import { freePort } from '../free-port.ts';
import { type RedisServer, startRedis } from './redis-server.ts';

const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/tls/${name}`, import.meta.url));
/** For `localhost` alone, valid for a hundred years, and its own authority. */
export const TLS_CERTIFICATE = fixture('localhost.pem');
export const TLS_KEY = fixture('localhost.key');

export interface TlsRedis {
  readonly server: RedisServer;
  readonly tlsPort: number;
}

/** Starts a Redis, or a Sentinel, that speaks TLS on a second port. */
export async function startTlsRedis(args: readonly string[] = [], isSentinel = false): Promise<TlsRedis> {
  const tlsPort = await freePort();
  const files = [
    '--tls-cert-file',
    TLS_CERTIFICATE,
    '--tls-key-file',
    TLS_KEY,
    '--tls-ca-cert-file',
    TLS_CERTIFICATE,
  ];
  const tls = ['--tls-port', `${tlsPort}`, ...files, '--tls-auth-clients', 'no'];
  return { server: await startRedis({ args: [...tls, ...args], sentinel: isSentinel }), tlsPort };
}
