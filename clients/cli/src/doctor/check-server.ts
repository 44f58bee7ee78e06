import { jsonIn } from '@parley/core/domain/parsed';
import { isRecord } from '@parley/core/domain/plain-record';
import { VERSION } from '../version.ts';
import { type Finding, fault, fine, unseen } from './finding.ts';
import { isLoopback, jsonOf, type Probed, probe } from './probe.ts';

/** The address of Parley, and the token of the caller. */
export interface Target {
  readonly baseUrl: string;
  readonly token: string;
  /** The origin of a page that shall call the API. */
  readonly origin?: string | undefined;
}

/** The server tolerates a difference of 30 s in the times of a JWT. */
const SKEW_MS_MAX = 30_000;
/** This allows for the whole seconds of a Date header, and for a busy machine that writes it late. */
const POD_SKEW_MS_MAX = 5_000;
/** The probes are sent in parallel, so that they reach several pods. */
const READINESS_PROBES = 6;
const VERSION_PROBES = 3;
/** A worker runs the canary every 15 s, so this is four missed runs. */
export const CANARY_SECONDS_MAX = 60;

/** Checks the address, the pods behind it and the token. */
export async function checkServer(target: Target): Promise<readonly Finding[]> {
  const url = new URL(target.baseUrl);
  const replies = await Promise.all(
    Array.from({ length: READINESS_PROBES }, () => probe(`${target.baseUrl}/readyz`)),
  );
  const [first] = replies;
  if (first === undefined || !('reply' in first)) {
    const why = first === undefined ? '' : first.why;
    return [fault('server', 'server_unreachable', `${target.baseUrl} cannot be reached: ${why}.`)];
  }
  const { status, headers } = first.reply;
  if (status >= 300 && status < 400)
    return [
      fault('server', 'redirected', `${target.baseUrl} leads to ${headers.get('location') ?? 'nowhere'}.`),
    ];
  const bodies = await Promise.all(replies.map(jsonOf));
  return [
    ...checkReadiness(target.baseUrl, bodies),
    ...(url.protocol === 'http:' && !isLoopback(url)
      ? [fault('server', 'plain_http', `${target.baseUrl} has no TLS.`, 'unknown')]
      : []),
    ...checkCookies(headers),
    ...checkClocks(replies),
    ...(await checkVersions(target.baseUrl)),
    await checkToken(target),
    ...(await checkPublicUrl(target.baseUrl)),
    ...(await checkOrigin(target)),
    ...(await checkMetrics(target.baseUrl)),
  ];
}

type Body = Readonly<Record<string, unknown>>;

function checkReadiness(baseUrl: string, bodies: readonly Body[]): readonly Finding[] {
  const answered = bodies.filter(({ status }) => typeof status === 'string');
  if (answered.length === 0)
    return [fault('server', 'not_parley', `${baseUrl} does not answer as Parley does.`)];
  const notReady = answered.find(({ status }) => status !== 'ready');
  const count = answered.filter(({ status }) => status !== 'ready').length;
  const reason = String(notReady?.reason ?? (notReady?.status === 'draining' ? 'draining' : 'Redis'));
  const stale = answered.find(({ timerCanaryAgeSeconds: age }) => Number(age ?? 0) > CANARY_SECONDS_MAX);
  return [
    notReady === undefined
      ? fine('server', `${baseUrl} is ready`)
      : fault(
          'server',
          'server_not_ready',
          `${baseUrl} is not ready in ${count} of ${answered.length} replies (${reason}).`,
        ),
    ...(answered.some(({ vault }) => vault === false)
      ? [fault('vault', 'vault_unavailable', 'The pods cannot use the Redis of the vault.')]
      : []),
    ...(stale === undefined
      ? []
      : [
          fault(
            'worker',
            'worker_missing',
            `No worker has run a timer for ${String(stale.timerCanaryAgeSeconds)} s.`,
          ),
        ]),
  ];
}

function checkCookies(headers: Headers): readonly Finding[] {
  const [cookie] = headers.getSetCookie();
  if (cookie === undefined) return [];
  const name = cookie.split('=', 1)[0] ?? '';
  return [fault('proxy', 'session_affinity', `The proxy sets the cookie ${name}.`, 'unknown')];
}

function checkClocks(replies: readonly Probed[]): readonly Finding[] {
  const times = replies
    .map((probed) => ('reply' in probed ? Date.parse(probed.reply.headers.get('date') ?? '') : Number.NaN))
    .filter(Number.isFinite);
  const [theirs = Number.NaN] = times;
  const apart = Math.max(...times) - Math.min(...times);
  return [
    checkClock('clock of the server', theirs),
    ...(apart > POD_SKEW_MS_MAX
      ? [fault('clocks of the pods', 'pod_clocks_differ', `Their clocks differ by ${apart / 1_000} s.`)]
      : []),
  ];
}

/** Compares a clock with that of this machine. */
export function checkClock(check: string, theirMs: number): Finding {
  if (!Number.isFinite(theirMs)) return unseen(check, 'it could not be read');
  const skewMs = Math.abs(Date.now() - theirMs);
  const text = `${Math.round(skewMs / 1_000)} s from the clock of this machine`;
  return skewMs <= SKEW_MS_MAX
    ? fine(check, text)
    : fault(check, 'clock_wrong', `${text}: tokens would count as expired or as not valid yet.`);
}

async function checkVersions(baseUrl: string): Promise<readonly Finding[]> {
  const probes = Array.from({ length: VERSION_PROBES }, async () => {
    const { info } = await jsonOf(await probe(`${baseUrl}/openapi.json`));
    return (info as { readonly version?: unknown } | undefined)?.version;
  });
  const theirs = [...new Set(await Promise.all(probes))].filter((version) => typeof version === 'string');
  const [first] = theirs;
  if (first === undefined) return [unseen('version', 'the server does not say its version')];
  if (theirs.length > 1)
    return [
      fault('version', 'mixed_builds', `The pods have the versions ${theirs.join(' and ')}.`, 'unknown'),
    ];
  const text = `parley ${VERSION}, server ${first}`;
  return [
    first === VERSION ? fine('version', text) : fault('version', 'version_differs', `${text}.`, 'unknown'),
  ];
}

async function checkToken({ baseUrl, token }: Target): Promise<Finding> {
  const probed = await probe(`${baseUrl}/v1/elicitations?limit=1`, { token });
  if (!('reply' in probed)) return unseen('token', 'the server did not reply');
  const { ok, status } = probed.reply;
  // 400 means that the token is accepted but a service key must also name a user.
  if (ok || status === 400) return fine('token', ok ? "a person's" : 'a service key');
  if (status === 403) return fine('token', 'a service key without the scope read');
  if (status !== 401) return unseen('token', `the server replied with ${status}`);
  const expiresAt = expiryOf(token);
  const isExpired = expiresAt !== undefined && expiresAt < Date.now();
  const why = isExpired
    ? `it expired at ${new Date(expiresAt).toISOString()}`
    : 'it is unknown or its signature is wrong';
  return fault('token', 'token_refused', `The server refuses it: ${why}.`);
}

/** The expiry of a JWT, in ms since 1970; undefined for another kind of token. */
function expiryOf(token: string): number | undefined {
  const claims = jsonIn(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
  return isRecord(claims) && typeof claims.exp === 'number' ? claims.exp * 1_000 : undefined;
}

/** Checks Parley's public URL, which the metadata of the MCP endpoint contain. */
async function checkPublicUrl(baseUrl: string): Promise<readonly Finding[]> {
  const { resource } = await jsonOf(
    await probe(`${baseUrl}/.well-known/oauth-protected-resource/run/v1/mcp`),
  );
  if (typeof resource !== 'string' || !URL.canParse(resource)) return [];
  const [ours, theirs] = [new URL(baseUrl), new URL(resource)];
  const isSame =
    ours.origin === theirs.origin || (isLoopback(ours) && isLoopback(theirs) && ours.port === theirs.port);
  return isSame
    ? []
    : [fault('public url', 'public_url_differs', `Parley calls itself ${theirs.origin}.`, 'unknown')];
}

/** Sends the preflight request that a browser sends before a page may call. */
async function checkOrigin({ baseUrl, origin }: Target): Promise<readonly Finding[]> {
  if (origin === undefined) return [];
  const headers = {
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,content-type',
  };
  const probed = await probe(`${baseUrl}/v1/elicitations`, { method: 'OPTIONS', headers });
  const allowed = 'reply' in probed && probed.reply.headers.get('access-control-allow-origin');
  return allowed === origin || allowed === '*'
    ? [fine('origin', `pages of ${origin} may call`)]
    : [fault('origin', 'origin_refused', `Pages of ${origin} may not call.`)];
}

async function checkMetrics(baseUrl: string): Promise<readonly Finding[]> {
  const probed = await probe(`${baseUrl}/metrics`);
  if (!('reply' in probed) || !probed.reply.ok) return [];
  const text = await probed.reply.text().catch(() => '');
  return text.startsWith('# ') ? [fault('metrics', 'metrics_exposed', `${baseUrl}/metrics is public.`)] : [];
}
