/**
 * The command `parley dev`: it starts the services with development settings, and prints what a person needs to try them. The
 * services themselves are separate processes, started by `dev/api-process.ts`.
 */

import { createServer } from 'node:net';
import { resolve } from 'node:path';
import { readableLine } from '@parley/core/domain/readable';
import { createClient, type ParleyClient } from '@parley/sdk';
import { type Command, InvalidArgumentError } from 'commander';
import { shellWord } from '../called-as.ts';
import { type CliContext, print, shownText } from '../context.ts';
import { type ServiceOptions, type ServiceProcess, startService } from '../dev/api-process.ts';
import { findRedis, type RedisSearch } from '../dev/find-redis.ts';
import {
  DEV_TENANT,
  DEV_USER,
  type DevServer,
  readDevServer,
  returnToDevServer,
  writeDevServer,
} from '../dev/settings.ts';
import { CliError, EXIT, usageError } from '../exit-code.ts';
import { homeFolder } from '../home.ts';
import { signToken } from '../sign-token.ts';

type Service = 'api' | 'worker';

interface DevFlags {
  readonly port: number;
  readonly memory?: boolean;
  readonly redis?: string;
  readonly question: boolean;
  readonly verbose?: boolean;
}

const DEFAULT_PORT = 3_000;
const PORT_MAX = 65_535;
const HOST = '127.0.0.1';
/** Pages from a developer's own web server may call the API. */
const LOCAL_PAGES = 'http://localhost:*,http://127.0.0.1:*';
const NAMED_REDIS_MS = 5_000;
const DAY_SECONDS = 86_400;

/** `parley dev`: Parley on this machine, with a token and a page to answer on. */
export function registerDev(program: Command, context: CliContext): void {
  program
    .command('dev')
    .description('run Parley on this machine, for development, until Ctrl+C')
    .option('--port <n>', 'where it listens', portOf, DEFAULT_PORT)
    .option('--memory', 'keep everything in memory, although there may be a Redis')
    .option(
      '--redis <url>',
      'use this Redis, without a password (that goes into REDIS_URL); without it REDIS_URL, then one on this machine, then memory',
    )
    .option('--no-question', 'ask nothing at the start')
    .option('--verbose', 'print the log of the server')
    .action((flags: DevFlags) => develop(context, flags));
}

async function develop(context: CliContext, flags: DevFlags): Promise<void> {
  const { env } = context;
  const url = `http://localhost:${flags.port}`;
  // The port is checked before the address is saved, because the saved address may be that of the server that has the port.
  await refuseTakenPort(context, flags.port);
  const search = await redisFor(flags, env.redisUrl);
  const { url: redis } = search;
  const folder = homeFolder(env);
  const other = await runningElsewhere(folder, url);
  const server = writeDevServer(folder, url);
  const onLog = (line: string) => flags.verbose === true && context.stderr.write(`${shownText(line)}\n`);
  const stopping = new AbortController();
  const signal = AbortSignal.any([context.signal, stopping.signal]);
  const settings = settingsOf(context, server, flags.port, redis);
  const running = new Map<Service, ServiceProcess>();
  try {
    await startAll(running, { env: settings, onLog, signal }, redis !== undefined);
    introduce(context, url, search, await hasConsole(url));
    if (other !== undefined)
      print(
        context,
        `Commands find this server now, and the one at ${other} again when this one has ended.\n`,
      );
    const service = createClient({ baseUrl: url, token: server.serviceKey });
    const user = tokenOfDevUser(server);
    const serving = { ...context, signal };
    const following = announce(serving, { service, person: createClient({ baseUrl: url, token: user }) });
    following.catch((error: unknown) => !signal.aborted && onLog(String(error)));
    if (flags.question) void askFirst(serving, service).catch(() => undefined);
    const end = await firstEnd(running);
    if (!context.signal.aborted) throw new CliError(EXIT.failed, 'service_ended', end);
  } finally {
    stopping.abort();
    await Promise.all([...running.values()].map(({ ended }) => ended));
    if (other !== undefined) returnToDevServer(folder, other, url);
  }
}

/** The address of another running development server. While this one runs, commands use this one instead. */
async function runningElsewhere(folder: string, url: string): Promise<string | undefined> {
  const before = readDevServer(folder)?.url;
  if (before === undefined || before === url) return undefined;
  return (await isTaken(Number(new URL(before).port))) ? before : undefined;
}

async function refuseTakenPort({ calledAs }: CliContext, port: number): Promise<void> {
  if (!(await isTaken(port))) return;
  const other = port < PORT_MAX ? port + 1 : port - 1;
  const advice = `Perhaps another ${calledAs} dev runs. Choose another port: ${calledAs} dev --port ${other}`;
  throw new CliError(EXIT.failed, 'port_taken', `Port ${port} is in use. ${advice}`);
}

function isTaken(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code === 'EADDRINUSE'));
    server.listen({ port, host: HOST, exclusive: true }, () => server.close(() => resolve(false)));
  });
}

/** Waits for the first service to end and describes that end. The other services are of no use without it. */
function firstEnd(running: ReadonlyMap<Service, ServiceProcess>): Promise<string> {
  const ends = [...running].map(
    async ([name, { ended }]) => `The ${name} ended with the code ${await ended}.`,
  );
  return Promise.race(ends);
}

function tokenOfDevUser({ jwtSecret }: DevServer): () => string {
  return () => signToken({ user: DEV_USER, tenant: DEV_TENANT, secret: jwtSecret, expires: DAY_SECONDS });
}

/** Finds the Redis to use. A result without an address means memory. */
async function redisFor({ memory, redis }: DevFlags, fromEnv: string | undefined): Promise<RedisSearch> {
  if (memory === true) return {};
  const named = redis ?? fromEnv;
  if (named === undefined) return findRedis();
  if (!URL.canParse(named)) throw usageError('The address of Redis is no URL.');
  const search = await findRedis(named, NAMED_REDIS_MS);
  if (search.url !== undefined) return search;
  // Without this error, the api would wait for Redis without any message.
  const { refusal = `The Redis at ${new URL(named).host} cannot be reached.` } = search;
  throw new CliError(EXIT.unavailable, 'redis_unavailable', refusal);
}

function settingsOf({ env }: CliContext, server: DevServer, port: number, redis: string | undefined) {
  return {
    // No drain delay is needed, because no load balancer has to notice the end.
    PARLEY_DRAIN_DELAY_MS: '0',
    PARLEY_CONSOLE: 'dev',
    PARLEY_CORS_ORIGINS: LOCAL_PAGES,
    PARLEY_CONNECT_IDENTITY: 'dev',
    PARLEY_CONNECT_TENANTS: DEV_TENANT,
    ...env.all,
    REDIS_URL: redis ?? '',
    PORT: String(port),
    PARLEY_HOST: HOST,
    PARLEY_METRICS_PORT: '0',
    PARLEY_PUBLIC_URL: server.url,
    PARLEY_JWT_SECRET: server.jwtSecret,
    PARLEY_API_KEYS: `${DEV_TENANT}/parley-dev/ask+read+chat+link+act+operate:${server.serviceKey}`,
    PARLEY_VAULT_KEYS: `dev:${server.vaultKey}`,
    // This variable is for the command, not for the server.
    PARLEY_TOKEN: undefined,
  };
}

async function startAll(
  running: Map<Service, ServiceProcess>,
  options: ServiceOptions,
  hasRedis: boolean,
): Promise<void> {
  running.set('api', await startService('api', options));
  // Without Redis, the api also does the worker's work.
  if (!hasRedis) return;
  const env = { ...options.env, PORT: undefined };
  running.set('worker', await startService('worker', { ...options, env }));
}

/** Whether the api serves the console. Packages contain the console; in a checkout it must be built first. */
function hasConsole(url: string): Promise<boolean> {
  return fetch(`${url}/console`).then(
    ({ ok }) => ok,
    () => false,
  );
}

function introduce(
  context: CliContext,
  url: string,
  { url: redis, refusal }: RedisSearch,
  showsConsole: boolean,
): void {
  const place = redis === undefined ? 'in memory, until it ends' : `in Redis at ${new URL(redis).host}`;
  if (refusal !== undefined) print(context, shownText(`${refusal}\n`));
  const command = calledElsewhere(context);
  const consoleAt = showsConsole ? `; the console of operators at ${url}/console, for any name` : '';
  print(
    context,
    `Parley runs at ${url} and keeps everything ${place}.
Your inbox is at ${url}/auth/inbox, for the name ${DEV_USER}${consoleAt}. The API is described at ${url}/docs. Commands of parley on this machine find it by themselves. In another terminal:

  ${command} ask 'Which colour?' --choice red --choice blue
  ${command} answer

Press Ctrl+C to stop.
`,
  );
}

/** How to call this program in another terminal, which lacks this one's environment. */
function calledElsewhere({ env, calledAnywhere }: CliContext): string {
  const isPosix = process.platform !== 'win32';
  return env.home === undefined || !isPosix
    ? calledAnywhere
    : `PARLEY_HOME=${shellWord(resolve(env.home))} ${calledAnywhere}`;
}

interface Clients {
  readonly service: ParleyClient;
  readonly person: ParleyClient;
}

/** Prints each new question with the address of a page where it can be answered. */
async function announce(context: CliContext, { service, person }: Clients): Promise<void> {
  const known = new Set<string>();
  const command = calledElsewhere(context);
  for await (const item of person.inbox({ signal: context.signal })) {
    if (item.type === 'other' || 'approval' in item) continue;
    const elicitations = item.type === 'inbox-snapshot' ? item.elicitations : [item.elicitation];
    for (const { elicitationId, message, status } of elicitations) {
      if (status !== 'pending') {
        if (known.delete(elicitationId)) print(context, `${status}: ${readableLine(message)}`);
        continue;
      }
      if (known.has(elicitationId)) continue;
      known.add(elicitationId);
      const { url } = await service.createAnswerLink(elicitationId, { allowSensitive: true });
      print(
        context,
        `Question: ${readableLine(message)}\n  on a page:       ${url}\n  in a terminal:   ${command} answer ${shellWord(elicitationId)}`,
      );
    }
  }
}

async function askFirst(context: CliContext, service: ParleyClient): Promise<void> {
  const outcome = await service.ask(
    {
      userId: DEV_USER,
      mode: 'form',
      title: 'Your first question',
      message: 'What shall your agent be called?',
      requestedSchema: {
        type: 'object',
        properties: { name: { type: 'string', title: 'Name', minLength: 1, maxLength: 40 } },
        required: ['name'],
      },
      context: { trigger: 'terminal' },
      timeoutSeconds: DAY_SECONDS,
    },
    { signal: context.signal },
  );
  if (outcome.status === 'accepted')
    print(context, `The asker has the answer: ${readableLine(outcome.content.name)}`);
}

function portOf(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 1 || port > PORT_MAX)
    throw new InvalidArgumentError('It must be a port.');
  return port;
}
