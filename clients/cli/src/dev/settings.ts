import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writePrivateFile } from '../private-file.ts';

/** The saved development server. Its secrets are kept, so that tokens stay valid after a restart. */
export interface DevServer {
  readonly url: string;
  readonly jwtSecret: string;
  readonly serviceKey: string;
  readonly vaultKey: string;
}

/** The only tenant of the development server, and the person whom its commands ask by default. */
export const DEV_TENANT = 'dev';
export const DEV_USER = 'me';

/** Reads the development server that `parley dev` saved last; undefined if there was none yet. */
export function readDevServer(folder: string): DevServer | undefined {
  const file = join(folder, 'dev.json');
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as DevServer) : undefined;
}

/** Saves the address of the development server. The first call also creates its secrets. */
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

/** Saves the previous server again after `ended` has ended, unless another one was saved since. */
export function returnToDevServer(folder: string, before: string, ended: string): void {
  if (readDevServer(folder)?.url === ended) writeDevServer(folder, before);
}
