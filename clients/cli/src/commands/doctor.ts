import { readableLine } from '@parley/core/domain/readable';
import type { RedisDiagnosis } from '@parley/server/diagnosis';
import type { Command } from 'commander';
import { connectionOf } from '../connection.ts';
import { type CliContext, isJson, print, printJson, styled } from '../context.ts';
import { diagnoseEnvironment } from '../dev/find-redis.ts';
import { EXIT } from '../exit-code.ts';
import { VERSION } from '../version.ts';

type Verdict = 'ok' | 'wrong' | 'unknown';

interface Finding {
  readonly check: string;
  readonly verdict: Verdict;
  readonly text: string;
}

const CALL_MS = 5_000;
/** A JWT is accepted within 30 s of its times. */
const SKEW_MS_MAX = 30_000;
const NODE_MIN = [20, 19] as const;

/** `parley doctor`: why it does not work. */
export function registerDoctor(program: Command, context: CliContext): void {
  const command = program
    .command('doctor')
    .description('check the address, the token, Redis, clocks and versions, and say what to do')
    .action(async () => {
      const findings = [
        checkNode(),
        ...(await checkServer(command, context)),
        ...(await checkRedis(context)),
      ];
      for (const finding of findings) {
        if (isJson(command)) printJson(context, finding);
        else print(context, lineOf(finding, context));
      }
      context.setExitCode(findings.some(({ verdict }) => verdict === 'wrong') ? EXIT.failed : EXIT.accepted);
    });
}

function lineOf({ check, verdict, text }: Finding, context: CliContext): string {
  const colour = { ok: 'green', wrong: 'red', unknown: 'yellow' } as const;
  return `${styled(context, colour[verdict], verdict.padEnd(7))} ${check}: ${readableLine(text)}`;
}

function finding(check: string, verdict: Verdict, text: string): Finding {
  return { check, verdict, text };
}

function checkNode(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const isRight = major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1]);
  const text = `${process.versions.node}${isRight ? '' : '; 20.19 or later is needed'}`;
  return finding('node', isRight ? 'ok' : 'wrong', text);
}

async function checkServer(command: Command, context: CliContext): Promise<readonly Finding[]> {
  let connection: ReturnType<typeof connectionOf>;
  try {
    connection = connectionOf(command, context, 'service');
  } catch (error) {
    return [finding('token', 'wrong', error instanceof Error ? error.message : String(error))];
  }
  const { baseUrl } = connection;
  const ready = await get(`${baseUrl}/readyz`);
  if (ready === undefined)
    return [finding('server', 'wrong', `${baseUrl} cannot be reached; is PARLEY_URL right?`)];
  const isReady = ready.status === 200;
  const server = isReady
    ? `${baseUrl} is ready`
    : `${baseUrl} is not ready (${ready.status}): Redis may be unavailable`;
  const token = typeof connection.token === 'string' ? connection.token : await connection.token();
  return [
    finding('server', isReady ? 'ok' : 'wrong', server),
    checkClock('clock of the server', Date.parse(ready.headers.get('date') ?? '')),
    await checkVersion(baseUrl),
    await checkToken(baseUrl, token),
  ];
}

function checkClock(check: string, theirMs: number): Finding {
  if (!Number.isFinite(theirMs)) return finding(check, 'unknown', 'it could not be read');
  const skewMs = Math.abs(Date.now() - theirMs);
  const text = `${Math.round(skewMs / 1_000)} s from the clock of this machine`;
  return skewMs <= SKEW_MS_MAX
    ? finding(check, 'ok', text)
    : finding(check, 'wrong', `${text}; tokens would count as expired or as not valid yet`);
}

async function checkVersion(baseUrl: string): Promise<Finding> {
  const reply = await get(`${baseUrl}/openapi.json`);
  const body = (await reply?.json().catch(() => undefined)) as { info?: { version?: string } } | undefined;
  const theirs = body?.info?.version;
  if (theirs === undefined) return finding('version', 'unknown', 'the server does not say its version');
  const text = `parley ${VERSION}, server ${theirs}`;
  return theirs === VERSION
    ? finding('version', 'ok', text)
    : finding('version', 'unknown', `${text}: they differ`);
}

async function checkToken(baseUrl: string, token: string): Promise<Finding> {
  const reply = await get(`${baseUrl}/v1/elicitations?limit=1`, token);
  if (reply === undefined) return finding('token', 'unknown', 'the server did not reply');
  // A service key has to name a user.
  if (reply.ok || reply.status === 400)
    return finding('token', 'ok', reply.ok ? "a person's" : 'a service key');
  if (reply.status === 403) return finding('token', 'ok', 'a service key without the scope read');
  if (reply.status !== 401) return finding('token', 'unknown', `the server replied with ${reply.status}`);
  const expiresAt = expiryOf(token);
  const isExpired = expiresAt !== undefined && expiresAt < Date.now();
  const why = isExpired
    ? `it expired at ${new Date(expiresAt).toISOString()}`
    : 'it is unknown or its signature is wrong';
  return finding('token', 'wrong', `the server refuses it: ${why}`);
}

/** The expiry of a JWT, in ms since 1970; nothing for another kind of token. */
function expiryOf(token: string): number | undefined {
  try {
    const { exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
    return typeof exp === 'number' ? exp * 1_000 : undefined;
  } catch {
    return undefined;
  }
}

async function checkRedis({ env }: CliContext): Promise<readonly Finding[]> {
  const looks = await diagnoseEnvironment(env.all);
  if ('faults' in looks) return looks.faults.map((fault) => finding('redis', 'wrong', fault));
  if (looks.found.length === 0)
    return [finding('redis', 'unknown', 'no setting names one here; the server may have its own')];
  return looks.found.flatMap(({ isVault, diagnosis }) =>
    findingsOfRedis(isVault ? 'redis of the vault' : 'redis', diagnosis),
  );
}

function findingsOfRedis(
  check: string,
  { address, fault, server = 'a Redis of an unknown version', evictionPolicy, timeMs }: RedisDiagnosis,
): readonly Finding[] {
  if (fault !== undefined) return [finding(check, 'wrong', fault.text)];
  const evicts = evictionPolicy !== undefined && evictionPolicy !== 'noeviction';
  const lost = `${address} removes keys when its memory is full, open questions too; set its maxmemory-policy to noeviction`;
  return [
    finding(check, 'ok', `${address} is ${server}`),
    checkClock(`clock of ${check}`, timeMs ?? Number.NaN),
    ...(evicts ? [finding(check, 'wrong', lost)] : []),
  ];
}

async function get(url: string, token?: string): Promise<Response | undefined> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  try {
    return await fetch(url, { headers, signal: AbortSignal.timeout(CALL_MS) });
  } catch {
    return undefined;
  }
}
