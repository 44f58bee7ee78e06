import { jsonIn } from '@parley/core/domain/parsed';
import { isRecord } from '@parley/core/domain/plain-record';
import type { BoundedFetch } from './bounded-fetch.ts';

/**
 * Wraps a fetch so that what providers send is read as the standards have it (RFC 6749, 7591, 8414), before a library
 * judges it: tokens, refreshed tokens, registrations and metadata alike. With `renewsIdTokens`, a refresh is about the ID token.
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
    // A token is a token, with whatever status of success; a registration is created with 201.
    const status = isToken ? 200 : response.status;
    return new Response(JSON.stringify(present(read)), { status, headers });
  };
}

/** A 401 whose body names an error says more than its challenge, which a library would look at first. */
async function withoutChallenge(response: Response): Promise<Response> {
  const reply = recordIn(await response.clone().text(), '');
  if (typeof reply?.error !== 'string' || reply.error === '') return response;
  const headers = new Headers(response.headers);
  headers.delete('www-authenticate');
  return new Response(response.body, { status: response.status, headers });
}

/** The record in a body: JSON, whatever its type is called, or the form encoding that older providers use for tokens. */
function recordIn(text: string, contentType: string): Record<string, unknown> | undefined {
  if (contentType.includes('x-www-form-urlencoded')) return Object.fromEntries(new URLSearchParams(text));
  const value = jsonIn(text);
  return isRecord(value) ? value : undefined;
}

/** Without members that say nothing: null and empty texts count as absent. */
function present(reply: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(reply).filter(([, value]) => value !== null && value !== ''));
}

function isRefresh({ body }: RequestInit): boolean {
  return body instanceof URLSearchParams && body.get('grant_type') === 'refresh_token';
}

/** Types that providers give tokens which are presented as bearer tokens: Slack says whose token it is. */
const BEARER_TYPES = /^(?:bearer|bot|user)$/i;

function tokensIn(reply: Readonly<Record<string, unknown>>, dropsIdToken: boolean): Record<string, unknown> {
  const { authed_user: user, ...own } = reply;
  // Where only a person's token was asked for, Slack sends it as a member of its own.
  const tokens = 'access_token' in own || !isRecord(user) ? own : { ...own, ...user };
  const { token_type: type, expires_in: expiresIn, scope, id_token: idToken, ...rest } = present(tokens);
  const seconds = Number(expiresIn);
  return {
    ...rest,
    ...(typeof rest.refresh_token !== 'string' && { refresh_token: undefined }),
    token_type: type === undefined || BEARER_TYPES.test(String(type)) ? 'bearer' : type,
    // Nothing, zero and negative times mean a token without an end.
    ...(seconds > 0 && Number.isFinite(seconds) && { expires_in: seconds }),
    ...(Array.isArray(scope) && { scope: scope.join(' ') }),
    ...(typeof scope === 'string' && { scope }),
    // A refreshed token is kept whatever is said beside it about the person: the old refresh token may be dead already.
    ...(idToken !== undefined && !dropsIdToken && { id_token: idToken }),
  };
}
