import { jsonIn } from '@parley/core/domain/parsed';
import { isRecord } from '@parley/core/domain/plain-record';
import type { BoundedFetch } from './bounded-fetch.ts';

/**
 * Wraps a fetch so that deviating replies of providers read as the standards prescribe (RFC 6749, 7591, 8414), before a library
 * checks them: tokens, refreshed tokens, registrations and metadata. With `renewsIdTokens`, the purpose of a refresh is the ID
 * token.
 */
export function readingProviders(fetchIt: BoundedFetch, renewsIdTokens = false): BoundedFetch {
  return async (url, init) => {
    const response = await fetchIt(url, init);
    if (response.status === 401) return withoutChallenge(response);
    if (!response.ok) return response;
    const text = await response.clone().text();
    const reply = recordIn(text, response.headers.get('content-type') ?? '');
    if (reply === undefined) return response;
    const headers = new Headers(response.headers);
    headers.set('content-type', 'application/json');
    headers.delete('content-length');
    const isToken = 'access_token' in reply || 'authed_user' in reply;
    const read = isToken ? tokensIn(reply, isRefresh(init) && !renewsIdTokens) : reply;
    // Libraries expect status 200 for tokens and 201 for registrations; some providers send other statuses of success.
    const status = isToken ? 200 : response.status;
    return new Response(JSON.stringify(present(read)), { status, headers });
  };
}

/** If the body of a 401 names an error, its challenge is removed: the library would read the challenge first. */
async function withoutChallenge(response: Response): Promise<Response> {
  const reply = recordIn(await response.clone().text(), '');
  if (typeof reply?.error !== 'string' || reply.error === '') return response;
  const headers = new Headers(response.headers);
  headers.delete('www-authenticate');
  return new Response(response.body, { status: response.status, headers });
}

/** The record in a body: JSON whatever its content type, or the form encoding that older providers use for tokens. */
function recordIn(text: string, contentType: string): Record<string, unknown> | undefined {
  if (contentType.includes('x-www-form-urlencoded')) return Object.fromEntries(new URLSearchParams(text));
  const value = jsonIn(text);
  return isRecord(value) ? value : undefined;
}

/** The reply without empty members: null and empty texts count as absent. */
function present(reply: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(reply).filter(([, value]) => value !== null && value !== ''));
}

function isRefresh({ body }: RequestInit): boolean {
  return body instanceof URLSearchParams && body.get('grant_type') === 'refresh_token';
}

/** Token types that are presented as bearer tokens. Slack uses the type to say whose token it is. */
const BEARER_TYPES = /^(?:bearer|bot|user)$/i;

function tokensIn(reply: Readonly<Record<string, unknown>>, dropsIdToken: boolean): Record<string, unknown> {
  const { authed_user: user, ...own } = reply;
  // If only a person's token was requested, Slack sends it in a nested member.
  const tokens = 'access_token' in own || !isRecord(user) ? own : { ...own, ...user };
  const { token_type: type, expires_in: expiresIn, scope, id_token: idToken, ...rest } = present(tokens);
  const seconds = Number(expiresIn);
  return {
    ...rest,
    ...(typeof rest.refresh_token !== 'string' && { refresh_token: undefined }),
    token_type: type === undefined || BEARER_TYPES.test(String(type)) ? 'bearer' : type,
    // Lifetimes that are missing, zero or negative mean a token that does not expire.
    ...(seconds > 0 && Number.isFinite(seconds) && { expires_in: seconds }),
    ...(Array.isArray(scope) && { scope: scope.join(' ') }),
    ...(typeof scope === 'string' && { scope }),
    // A refreshed token is kept even if its ID token is invalid: the old refresh token may already be spent.
    ...(idToken !== undefined && !dropsIdToken && { id_token: idToken }),
  };
}
