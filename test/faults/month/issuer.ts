import { createServer } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { listenOnFreePort } from '../../harness/free-port.ts';
import { AUDIENCE, TENANT } from './settings.ts';

/** Where the users' tokens come from: an issuer with a JWKS, whose keys rotate and which may be unavailable. */
export interface Issuer {
  readonly url: string;
  /** A token of an hour, or of so many seconds; with Infinity it has no end. `by` is the number of the key, the newest unless it is given. */
  token(userId: string, more?: { readonly by?: number; readonly seconds?: number }): Promise<string>;
  /** Signs with a new key from now on, and publishes it beside the one before. Returns its number. */
  rotate(): Promise<number>;
  setUnavailable(isUnavailable: boolean): void;
  stop(): Promise<void>;
}

const PUBLISHED = 2;
const HOUR_SECONDS = 3_600;

export async function startIssuer(): Promise<Issuer> {
  const keys: Awaited<ReturnType<typeof generateKeyPair>>[] = [];
  let isUnavailable = false;
  const rotate = async () => keys.push(await generateKeyPair('ES256')) - 1;
  const published = async () =>
    Promise.all(
      keys.map(async ({ publicKey }, kid) => ({
        ...(await exportJWK(publicKey)),
        kid: `k${kid}`,
        alg: 'ES256',
      })),
    );
  const server = createServer(async (_request, response) => {
    if (isUnavailable) response.destroy();
    else response.end(JSON.stringify({ keys: (await published()).slice(-PUBLISHED) }));
  });
  const url = `http://127.0.0.1:${await listenOnFreePort(server)}`;
  await rotate();
  return {
    url,
    rotate,
    token(userId, { by = keys.length - 1, seconds = HOUR_SECONDS } = {}) {
      const key = keys[by]?.privateKey;
      if (key === undefined) throw new Error(`There is no key ${by}.`);
      const now = Math.floor(Date.now() / 1_000);
      const exp = Number.isFinite(seconds) ? { exp: now + seconds } : {};
      return new SignJWT({ tenant: TENANT, ...exp })
        .setProtectedHeader({ alg: 'ES256', kid: `k${by}` })
        .setSubject(userId)
        .setIssuer(url)
        .setAudience(AUDIENCE)
        .setIssuedAt(now)
        .sign(key);
    },
    setUnavailable(value) {
      isUnavailable = value;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
