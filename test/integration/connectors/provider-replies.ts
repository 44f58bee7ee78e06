import type { OddReply } from '../../harness/pages/connectors-setup.ts';

/** A reply of a token endpoint, as some provider sends it. */
export interface ProviderReply extends OddReply {
  /** What is special about it. */
  readonly what: string;
}

const TOKEN = { access_token: 'new-access', refresh_token: 'new-refresh', token_type: 'Bearer' };
const PAGE = { headers: { 'content-type': 'text/html' }, body: '<html><body>Sorry</body></html>' };
const error = (code: string, more = {}) => ({ error: code, ...more });

/** Refusals of a refresh after which the person is asked to connect again. */
export const DEFINITE_REFUSALS: readonly ProviderReply[] = [
  { what: 'invalid_grant', status: 400, body: error('invalid_grant') },
  {
    what: 'invalid_grant with a description',
    status: 400,
    body: error('invalid_grant', { error_description: 'Token has been expired or revoked.' }),
  },
  { what: 'invalid_grant with 401', status: 401, body: error('invalid_grant') },
  { what: 'invalid_grant with 403', status: 403, body: error('invalid_grant') },
  { what: 'unauthorized_client with 403', status: 403, body: error('unauthorized_client') },
  { what: 'unauthorized_client with 400', status: 400, body: error('unauthorized_client') },
  { what: 'invalid_request', status: 400, body: error('invalid_request') },
  { what: 'unsupported_grant_type', status: 400, body: error('unsupported_grant_type') },
  { what: 'access_denied', status: 403, body: error('access_denied') },
  { what: 'a code of its own', status: 400, body: error('token_revoked') },
  { what: 'a code in capitals', status: 400, body: error('INVALID_REFRESH_TOKEN') },
  { what: "GitHub's code with 200", body: error('bad_refresh_token') },
  { what: "Slack's ok: false with 200", body: { ok: false, error: 'invalid_refresh_token' } },
  { what: "Slack's token_revoked with 200", body: { ok: false, error: 'token_revoked' } },
  {
    what: 'a challenge with 401 and an error',
    status: 401,
    headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
    body: error('invalid_token'),
  },
  {
    what: 'a bare challenge with 401',
    status: 401,
    headers: { 'www-authenticate': 'Bearer realm="api"' },
    body: '',
  },
  { what: 'a page with 400', status: 400, ...PAGE },
  { what: 'a page with 401', status: 401, ...PAGE },
  { what: 'a page with 403', status: 403, ...PAGE },
  { what: 'a page with 404', status: 404, ...PAGE },
  { what: 'a page with 410', status: 410, ...PAGE },
  { what: 'an empty 404', status: 404, body: '' },
  { what: 'a message without an error with 400', status: 400, body: { message: 'refresh token not found' } },
  {
    what: 'an error that is an object with 400',
    status: 400,
    body: { error: { code: 190, message: 'expired' } },
  },
  { what: 'a list of errors with 400', status: 400, body: { errors: [{ errorType: 'invalid_grant' }] } },
  { what: 'a token of another kind', body: { ...TOKEN, token_type: 'mac' } },
];

/** Failures of a refresh that pass, or that the deployer mends: the credential is kept and tried again. */
export const PASSING_FAILURES: readonly ProviderReply[] = [
  { what: 'invalid_client', status: 401, body: error('invalid_client') },
  {
    what: 'invalid_client with a challenge',
    status: 401,
    headers: { 'www-authenticate': 'Basic' },
    body: error('invalid_client'),
  },
  { what: 'invalid_client with 400', status: 400, body: error('invalid_client') },
  { what: 'temporarily_unavailable with 400', status: 400, body: error('temporarily_unavailable') },
  { what: 'temporarily_unavailable with 503', status: 503, body: error('temporarily_unavailable') },
  { what: 'server_error', status: 500, body: error('server_error') },
  { what: 'invalid_grant with 500', status: 500, body: error('invalid_grant') },
  { what: 'a request that took too long', status: 408, body: '' },
  { what: 'early data', status: 425, body: '' },
  { what: 'too many calls', status: 429, body: error('slow_down') },
  { what: 'a page with 502', status: 502, ...PAGE },
  { what: 'a page with 200, as of a firewall', ...PAGE },
  { what: 'a redirect', status: 302, headers: { location: '/login' }, body: '' },
  { what: "Slack's rate limit with 200", body: { ok: false, error: 'ratelimited' } },
  { what: "Slack's internal error with 200", body: { ok: false, error: 'internal_error' } },
  { what: 'our secret, which is wrong, with 200', body: { ok: false, error: 'bad_client_secret' } },
  { what: "GitHub's word for our secret", body: error('incorrect_client_credentials') },
  {
    what: 'a refusal with a time to wait',
    status: 403,
    headers: { 'retry-after': '60' },
    body: error('forbidden'),
  },
  { what: 'a page with a time to wait', status: 403, ...PAGE, headers: { 'retry-after': '60' } },
  { what: 'a proxy that wants to know us', status: 407, body: '' },
  {
    what: 'a challenge that names our client',
    status: 401,
    headers: { 'www-authenticate': 'Basic error="invalid_client"' },
    body: '',
  },
];

interface TokenReply extends ProviderReply {
  /** What is stored beside the access token. */
  readonly stored: object;
  /** True where the reply names a person and cannot prove it: a refresh ignores that, a first token is refused. */
  readonly isIdentityWrong?: true;
}

/** Replies with tokens that are read. */
export const TOKEN_REPLIES: readonly TokenReply[] = [
  {
    what: 'the standard one',
    body: { ...TOKEN, expires_in: 3600, scope: 'a b' },
    stored: { refreshToken: 'new-refresh', scope: 'a b', expires: true },
  },
  {
    what: 'null members',
    body: { ...TOKEN, expires_in: null, scope: null, id_token: null },
    stored: { expires: false },
  },
  {
    what: 'a null refresh token',
    body: { ...TOKEN, refresh_token: null },
    stored: { refreshToken: 'old-refresh' },
  },
  {
    what: 'an empty refresh token',
    body: { ...TOKEN, refresh_token: '' },
    stored: { refreshToken: 'old-refresh' },
  },
  { what: 'an empty scope', body: { ...TOKEN, scope: '' }, stored: { scope: 'x y' } },
  { what: 'scopes as a list', body: { ...TOKEN, scope: ['a', 'b'] }, stored: { scope: 'a b' } },
  { what: 'scopes with commas', body: { ...TOKEN, scope: 'a,b' }, stored: { scope: 'a b' } },
  { what: 'no type of token', body: { ...TOKEN, token_type: undefined }, stored: {} },
  { what: 'a null type of token', body: { ...TOKEN, token_type: null }, stored: {} },
  { what: "a bot's token", body: { ...TOKEN, ok: true, token_type: 'bot' }, stored: {} },
  { what: 'a type in capitals', body: { ...TOKEN, token_type: 'BEARER' }, stored: {} },
  {
    what: "a person's token of Slack",
    body: { ok: true, authed_user: { id: 'U1', ...TOKEN, token_type: 'user', scope: 'a,b' } },
    stored: { refreshToken: 'new-refresh', scope: 'a b' },
  },
  { what: 'status 201', status: 201, body: TOKEN, stored: { refreshToken: 'new-refresh' } },
  { what: 'no time', body: TOKEN, stored: { expires: false } },
  { what: 'a time of 0', body: { ...TOKEN, expires_in: 0 }, stored: { expires: false } },
  { what: 'a time of -1', body: { ...TOKEN, expires_in: -1 }, stored: { expires: false } },
  { what: 'an empty time', body: { ...TOKEN, expires_in: '' }, stored: { expires: false } },
  { what: 'a time in digits', body: { ...TOKEN, expires_in: '3600' }, stored: { expires: true } },
  {
    what: 'JSON that is called text',
    headers: { 'content-type': 'text/plain' },
    body: JSON.stringify(TOKEN),
    stored: {},
  },
  { what: 'JSON without a type', headers: { 'content-type': '' }, body: JSON.stringify(TOKEN), stored: {} },
  {
    what: 'a form',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'access_token=new-access&token_type=bearer&scope=a%2Cb',
    stored: { refreshToken: 'old-refresh', scope: 'a b' },
  },
  {
    what: 'an identity that cannot be checked',
    body: { ...TOKEN, id_token: 'not.a.jwt' },
    isIdentityWrong: true,
    stored: { refreshToken: 'new-refresh' },
  },
  { what: 'status 202', status: 202, body: TOKEN, stored: { refreshToken: 'new-refresh' } },
  { what: 'a scope that is no text', body: { ...TOKEN, scope: 7 }, stored: { scope: 'x y' } },
  {
    what: 'a refresh token that is no text',
    body: { ...TOKEN, refresh_token: false },
    stored: { refreshToken: 'old-refresh' },
  },
  {
    what: 'a time without an end',
    body: '{"access_token":"new-access","token_type":"bearer","expires_in":1e999}',
    stored: { expires: false },
  },
];
