import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writePrivateFile } from '../private-file.ts';

/** The development server of this machine. Its secrets are kept, so that tokens stay valid over restarts. */
export interface DevServer {
  readonly url: string;
  readonly jwtSecret: string;
  readonly serviceKey: string;
  readonly vaultKey: string;
}

/** The one tenant of the development server, and the person whom commands ask unless they name one. */
export const DEV_TENANT = 'dev';
export const DEV_USER = 'me';

/** The development server that `parley dev` wrote down last; nothing before the first one. */
export function readDevServer(folder: string): DevServer | undefined {
  const file = join(folder, 'dev.json');
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as DevServer) : undefined;
}

/** Writes down the address of the development server; its secrets are made at the first time. */
export function writeDevServer(folder: string, url: string): DevServer {
  const server = {
    jwtSecret: randomBytes(32).toString('base64url'),
    serviceKey: randomBytes(32).toString('base64url'),
    vaultKey: randomBytes(32).toString('base64'),
    ...readDevServer(folder),
    url,
  };
  writePrivateFile(join(folder, 'dev.json'), `${JSON.stringify(server)}\n`);
  return server;
}

/** Writes down a server again that was written down before the one that has ended, unless a further one has been since. */
export function returnToDevServer(folder: string, before: string, ended: string): void {
  if (readDevServer(folder)?.url === ended) writeDevServer(folder, before);
}
