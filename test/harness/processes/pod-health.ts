import { request } from 'node:http';

/** Checks one URL and says whether the pod behind it may be sent requests. */
export type HealthCheck = (url: URL) => Promise<boolean>;

/**
 * True when GET `path` gives a 2xx within `timeoutMs`. Every check opens a connection of its own: on a kept one a
 * frozen pod and a slow one look alike.
 */
export function createHealthCheck(path: string, timeoutMs: number): HealthCheck {
  return (url) =>
    new Promise((resolve) => {
      const check = request(new URL(path, url), { agent: false, signal: AbortSignal.timeout(timeoutMs) });
      check.on('response', (response) => {
        response.resume();
        const status = response.statusCode ?? 500;
        resolve(status >= 200 && status < 300);
      });
      check.on('error', () => resolve(false));
      check.end();
    });
}
