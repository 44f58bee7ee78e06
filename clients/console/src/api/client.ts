import {
  createTransport,
  isParleyClientError,
  ParleyClientError,
  pathSegment,
  RETRY_DEFAULTS,
  type Transport,
} from '@parley/core';
import { createServerClock } from '@parley/widget/src/clock';
import type { AdminReplies } from './replies.ts';
import type { ConsoleSession } from './session.ts';

export type AdminCall = keyof AdminReplies;

/** The variable parts of a call: the ids in its path, its query and its body. */
export interface CallParts {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

/** The operators' API for one tenant, called in the name of the signed-in operator. */
export interface AdminApi {
  readonly transport: Transport;
  /** The present time on the server's clock, in ms. */
  now(): number;
  /** Makes a call. A `GET` is retried while the server is unavailable. Rejects with ParleyClientError. */
  call<Call extends AdminCall>(call: Call, parts?: CallParts): Promise<AdminReplies[Call]>;
  /**
   * Downloads a list as a file. If more rows match than one export may have, the last line of the file is the cursor of the
   * next export.
   */
  download(path: string, query: Readonly<Record<string, string | undefined>>): Promise<Blob>;
}

interface AdminApiOptions {
  readonly session: Pick<ConsoleSession, 'csrf'>;
  readonly tenant: string;
  /** The language of sentences from the server. */
  readonly lang: string;
  /** Called when the session has ended. */
  readonly onSignedOut: () => void;
}

// Erasing a person takes up to 20 s.
const ATTEMPT_MS = 30_000;

export function createAdminApi({ session, tenant, lang, onSignedOut }: AdminApiOptions): AdminApi {
  const clock = createServerClock();
  const fetchInSession: typeof fetch = async (input, init = {}) => {
    const headers = new Headers(init.headers);
    // The cookie identifies the caller. With a bearer token, the server would ignore the cookie and judge only that token.
    headers.delete('authorization');
    headers.set('parley-csrf', session.csrf);
    headers.set('parley-tenant', tenant);
    headers.set('accept-language', lang);
    const sentAt = performance.now();
    const response = await fetch(input, { ...init, headers, credentials: 'same-origin' });
    const date = Date.parse(response.headers.get('date') ?? '');
    // The Date header is rounded down to whole seconds, so half a second more is the best estimate.
    if (!Number.isNaN(date)) clock.note(new Date(date + 500).toISOString(), performance.now() - sentAt);
    if (response.status === 401) onSignedOut();
    return response;
  };
  const transport = createTransport({ root: '', token: '', fetch: fetchInSession, retry: RETRY_DEFAULTS });
  return {
    transport,
    now: () => clock.now(),
    async call(call, { params = {}, query = {}, body, signal } = {}) {
      const [method, template] = call.split(' ') as ['GET' | 'POST' | 'DELETE', string];
      const path = template.replaceAll(/:(\w+)/g, (_, name: string) => pathSegment(params[name] ?? ''));
      const request = { method, path, query, signal, ...(body !== undefined && { body }) };
      const reply = method === 'GET' ? transport.request(request) : transport.attempt(request, ATTEMPT_MS);
      return (await reply) as AdminReplies[typeof call];
    },
    async download(path, query) {
      const response = await transport.open({ method: 'GET', path, query }, new AbortController().signal);
      return response.blob();
    },
  };
}

/** The code of a failed call; `internal` for any other error. */
export function codeOf(error: unknown): string {
  return isParleyClientError(error) ? error.code : 'internal';
}

/** The server's messages about a refused input. */
export function detailsOf(error: unknown): readonly string[] {
  if (!(error instanceof ParleyClientError)) return [];
  return (error.problem?.errors ?? []).map(({ path, message }) =>
    path === '' ? message : `${path}: ${message}`,
  );
}
