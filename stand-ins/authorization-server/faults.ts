import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { readBody } from './pages.ts';

const PATHS = {
  discovery: ['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server'],
  authorization: ['/auth'],
  token: ['/token'],
  revocation: ['/token/revocation'],
  introspection: ['/token/introspection'],
} as const satisfies Record<string, readonly string[]>;
type Endpoint = keyof typeof PATHS;

/** How an endpoint misbehaves until the fault is removed. */
export interface ServerFault {
  readonly at: Endpoint;
  /** Delays the answer by this time, in ms. Without other members, the delayed answer is correct. */
  readonly delayMs?: number;
  /** Answers with this status. The authorization endpoint instead redirects the browser back with `error`. */
  readonly status?: number;
  /** The OAuth error code in that answer; by default `server_error`. */
  readonly error?: string;
  /** Repeats the whole request in the error, as careless servers do. */
  readonly reflect?: boolean;
}

export interface Faults {
  /** Handles the request if a fault is set for it. */
  handle(req: IncomingMessage, res: ServerResponse): Promise<'handled' | 'pass'>;
  /** Sets a fault. The returned function removes it; answers that are already delayed continue. */
  set(fault: ServerFault): () => void;
}

/** Faults that tests set. `onToken` gets the grant type of each token request that is refused here. */
export function createFaults(issuer: () => string, onToken: (grantType: string) => void): Faults {
  const faults = new Map<ServerFault, AbortController>();

  return {
    set(fault) {
      const ended = new AbortController();
      faults.set(fault, ended);
      return () => {
        faults.delete(fault);
        ended.abort();
      };
    },

    async handle(req, res) {
      const url = new URL(req.url ?? '/', 'http://stand-in');
      const [fault, ended] =
        [...faults].find(([{ at }]) => PATHS[at].some((path) => path === url.pathname)) ?? [];
      if (fault === undefined) return 'pass';
      const { delayMs = 0 } = fault;
      await sleep(delayMs, undefined, { ref: false, signal: ended?.signal }).catch(() => undefined);
      const { status, error = 'server_error' } = fault;
      if (status === undefined) return 'pass';
      if (fault.at === 'authorization') sendBack(url, res, error, issuer());
      else {
        const body = await readBody(req);
        if (fault.at === 'token') onToken(new URLSearchParams(body).get('grant_type') ?? 'none');
        const text = fault.reflect === true ? `${body} ${req.headers.authorization ?? ''}` : error;
        const answer = JSON.stringify({ error: text, error_description: text });
        res.writeHead(status, { 'content-type': 'application/json' }).end(answer);
      }
      return 'handled';
    },
  };
}

function sendBack({ searchParams }: URL, res: ServerResponse, error: string, issuer: string): void {
  const target = new URL(searchParams.get('redirect_uri') ?? issuer);
  target.searchParams.set('error', error);
  target.searchParams.set('error_description', 'on order');
  target.searchParams.set('state', searchParams.get('state') ?? '');
  target.searchParams.set('iss', issuer);
  res.writeHead(303, { location: target.href }).end();
}
