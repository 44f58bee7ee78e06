import { Agent, request } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { userToken } from '../../test/harness/tokens.ts';
import { TENANT, userOf } from './engine.ts';

/** The settings of every pod that the bench calls over HTTP. */
export const HTTP_ENV = {
  PARLEY_JWT_SECRET: 'bench-secret-bench-secret-bench-secret',
  PARLEY_API_KEYS: `${TENANT}:bench-service-key`,
  PARLEY_LOG_LEVEL: 'info',
  PARLEY_LIMIT_USER_WRITES: '1000000',
  PARLEY_LIMIT_SERVICE_CALLS: '10000000',
} as const;
export const SERVICE_TOKEN = 'bench-service-key';

/** How many users have a token. */
export const USERS = 200;

/** A lean client over `node:http`, whose own cost should not decide a measurement. */
export interface HttpClient {
  /** Posts JSON and returns the text of the reply. Rejects unless it is a 2xx. */
  post(url: string, token: string, body: string): Promise<string>;
  /** The token of a user by number, modulo `USERS`. */
  tokenOf(index: number): string;
}

export async function createHttpClient(connections: number): Promise<HttpClient> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const tokens = await Promise.all(
    Array.from({ length: USERS }, (_, index) =>
      userToken({ secret: HTTP_ENV.PARLEY_JWT_SECRET, userId: userOf(index), tenant: TENANT }),
    ),
  );
  return {
    tokenOf: (index) => tokens[index % USERS] ?? '',
    post: (url, token, body) =>
      new Promise((resolve, reject) => {
        const headers = {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
        };
        const sent = request(url, { method: 'POST', agent, headers }, (res) => {
          textOf(res).then(
            (text) =>
              Math.floor((res.statusCode ?? 0) / 100) === 2
                ? resolve(text)
                : reject(new Error(`status ${res.statusCode}: ${text}`)),
            reject,
          );
        });
        sent.once('error', reject);
        sent.end(body);
      }),
  };
}

/** The answer to the question of the bench, as a request body. */
export const ANSWER = JSON.stringify({ action: 'accept', content: { environment: 'staging', at: 1 } });
