import { hostname } from 'node:os';
import { z } from 'zod';

/** Builders of one variable each: text in, typed value out, a sentence that says what it is for. */
const text = (about: string) => z.string().optional().describe(about);
const list = (about: string) =>
  z
    .string()
    .default('')
    .transform((value) =>
      value
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== ''),
    )
    .describe(about);
const integer = (fallback: number, min: number, max: number, about: string) =>
  z
    .string()
    .default(String(fallback))
    .transform((value, issues) => {
      const number = Number(value);
      if (/^[0-9]+$/.test(value) && number >= min && number <= max) return number;
      issues.addIssue({ code: 'custom', message: `must be a whole number from ${min} to ${max}` });
      return z.NEVER;
    })
    .describe(`${about} Default ${fallback}.`);
const flag = (about: string) =>
  z
    .enum(['true', 'false'])
    .default('false')
    .transform((value) => value === 'true')
    .describe(about);
const nodes = (about: string) =>
  list(about).transform((parts, issues) =>
    parts.map((part) => {
      const match = /^(.+):([0-9]{1,5})$/.exec(part);
      if (match?.[1] !== undefined) return { host: match[1], port: Number(match[2]) };
      issues.addIssue({ code: 'custom', message: 'must be host:port, comma separated' });
      return z.NEVER;
    }),
  );

/** Every environment variable Parley reads. docs/configuration.md lists them from here. */
export const Variables = z.object({
  NODE_ENV: z
    .enum(['production', 'development', 'test'])
    .default('development')
    .describe('`production` refuses development shortcuts.'),
  PORT: integer(3000, 0, 65_535, 'Port of the API; 0 picks a free one.'),
  PARLEY_HOST: z.string().default('0.0.0.0').describe('Address to listen on.'),
  PARLEY_METRICS_PORT: integer(9464, 0, 65_535, "Port of /metrics (and of the worker's health); 0 for none."),
  PARLEY_POD: z
    .string()
    .max(64)
    .default(`${hostname()}-${process.pid}`.slice(-64))
    .describe('Name of this process in logs. Default host and pid.'),
  PARLEY_DELEGATES: z
    .enum(['same-pod', 'any-pod'])
    .default('same-pod')
    .describe(
      'Where an agent works that another one delegates to: on the pod of the turn, or on whichever pod takes it first. The same on all pods. Default same-pod.',
    ),
  PARLEY_OPENAI_STEPS: z
    .enum(['live', 'buffered'])
    .default('live')
    .describe(
      'How text is told in the OpenAI format, which cannot take it back when a step is begun anew on another pod: `live` as it comes, and such a step ends in the error `step_restarted`; `buffered` a step at a time. Default live.',
    ),
  PARLEY_PUBLIC_URL: text(
    'Origin under which browsers reach the hosted connect pages, such as https://auth.example.com; all pods serve them under /auth. Required where agents use credentials of their users.',
  ),
  PARLEY_CONFIG: text(
    'Path of the YAML file that lists models, agents, tools and connectors (docs/agents.md), read once at start. Without it there are no agents.',
  ),
  PARLEY_LOG_MCP_STDERR: flag(
    '`true`: logs what programs of MCP servers (stdio) say on stderr, to find out why one does not start. They may repeat answers and secrets there, so production refuses it; without it the log holds only that they spoke.',
  ),
  PARLEY_LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .default('info')
    .describe('Least severe level to log.'),

  REDIS_URL: text(
    'One Redis server, `redis://` or `rediss://`. Without any Redis the api runs alone on the memory backend.',
  ),
  PARLEY_REDIS_SENTINELS: nodes('Sentinels, `host:port` comma separated; wins over REDIS_URL.'),
  PARLEY_REDIS_SENTINEL_NAME: z.string().default('mymaster').describe('Name of the master group.'),
  PARLEY_REDIS_SENTINELS_USERNAME: text('ACL user at the Sentinels, where they have one.'),
  PARLEY_REDIS_SENTINELS_PASSWORD: text('Password at the Sentinels, where they ask for one.'),
  PARLEY_REDIS_CLUSTER: nodes(
    'Some nodes of a Redis Cluster, `host:port` comma separated; wins over REDIS_URL.',
  ),
  PARLEY_REDIS_USERNAME: text('ACL user.'),
  PARLEY_REDIS_PASSWORD: text('Password of the ACL user.'),
  PARLEY_REDIS_TLS: flag('`true`: TLS to Sentinel or Cluster (`rediss://` says it for one server).'),
  PARLEY_TIMER_QUEUES: integer(
    1,
    1,
    64,
    'BullMQ queues that deadlines are spread over; several on a Cluster. The same on every pod and worker.',
  ),

  PARLEY_JWT_SECRET: text('Secret of HS256 user tokens; at least 32 characters in production.'),
  PARLEY_JWT_JWKS_URL: text('JWKS of the issuer of user tokens.'),
  PARLEY_JWT_ISSUER: text('Issuer that user tokens must name; required with a JWKS.'),
  PARLEY_JWT_AUDIENCE: text('Audience that user tokens must name; required with a JWKS.'),
  PARLEY_JWT_TENANTS: list('Tenants the issuer of the JWKS speaks for, comma separated. Default `default`.'),
  PARLEY_JWT_USER_CLAIM: z.string().min(1).default('sub').describe('Claim that names the user.'),
  PARLEY_API_KEYS: list(
    'Service keys, `tenant:secret` comma separated; secrets of at least 8 characters, 24 in production.',
  ),
  PARLEY_CORS_ORIGINS: list('Origins of pages that may call from a browser, comma separated.'),

  PARLEY_WEBHOOK_SECRETS: list(
    'Secrets that sign webhooks, `tenant:whsec_<base64 of 24 to 64 bytes>` comma separated; the same on every api and worker. All of a tenant sign, the newest first, so that one can replace another. Without one a tenant cannot ask with a webhookUrl.',
  ),
  PARLEY_DEAD_LETTER_SECONDS: integer(
    2_592_000,
    60,
    31_536_000,
    'How long a webhook that could not be delivered stays in the list of dead letters, and its elicitation with it.',
  ),

  PARLEY_VAULT_KEYS: list(
    'Master keys of the credential vault, `id:base64 of 32 bytes` comma separated. The first seals; the others open what they sealed until `npm run rekey` is through.',
  ),
  PARLEY_VAULT_REDIS_URL: text(
    'One Redis server for the credentials alone, `redis://` or `rediss://`; it must not evict. Unset, they rest with everything else.',
  ),

  PARLEY_CONNECT_IDENTITY: z
    .enum(['oidc', 'session', 'dev'])
    .optional()
    .describe(
      'How the connect pages know who opens them: by the sign-in of an OpenID provider, by the word of a backend of yours that knows its users (`POST /auth/complete`), or, for development, by what is typed.',
    ),
  PARLEY_CONNECT_OIDC_ISSUER: text('OpenID provider that signs people in on the connect pages.'),
  PARLEY_CONNECT_OIDC_CLIENT_ID: text(
    'Our client there; its redirect URI is `<PARLEY_PUBLIC_URL>/auth/signed-in`.',
  ),
  PARLEY_CONNECT_OIDC_CLIENT_SECRET: text('Secret of that client; unset for a public one.'),
  PARLEY_CONNECT_USER_CLAIM: z
    .string()
    .min(1)
    .default('sub')
    .describe('Claim of that sign-in that is the userId of questions. Whoever has none gets in nowhere.'),
  PARLEY_CONNECT_TENANTS: list(
    'Tenants whose people sign in there, comma separated; with several, the claim `tenant` says which. Default `default`.',
  ),
  PARLEY_CONNECT_SESSION_URL: text(
    'With PARLEY_CONNECT_IDENTITY=session: https page of yours where people end up, with `?session=`.',
  ),
  PARLEY_CONNECT_TELL_ORIGINS: list(
    'Origins of pages that may be told by postMessage that a connect page they opened is done, comma separated.',
  ),
  PARLEY_CONNECT_PROXY_HOPS: integer(
    0,
    0,
    10,
    'Proxies in front of the api that each add to X-Forwarded-For; 0 takes the address of the connection.',
  ),

  PARLEY_RETENTION_SECONDS: integer(
    86_400,
    1,
    31_536_000,
    'How long ended elicitations and quiet feeds stay.',
  ),
  PARLEY_CONVERSATION_SECONDS: integer(
    2_592_000,
    60,
    315_360_000,
    'How long a conversation is remembered after its last turn.',
  ),
  PARLEY_GRACE_MS: integer(5_000, 100, 60_000, 'How long after its deadline a waiter may still return.'),
  PARLEY_RECHECK_MS: integer(
    30_000,
    100,
    600_000,
    'How often a waiter or reader looks although nothing woke it.',
  ),
  PARLEY_SWEEP_MS: integer(5_000, 100, 600_000, 'How often every pod sweeps the deadline index.'),
  PARLEY_HEARTBEAT_MS: integer(
    15_000,
    100,
    20_000,
    'Pause between heartbeats of a stream; clients give up on one that is silent for 45 s.',
  ),
  PARLEY_DRAIN_MS: integer(10_000, 100, 300_000, 'How long a shutdown may take at most.'),

  PARLEY_DRAIN_DELAY_MS: integer(
    1_000,
    0,
    60_000,
    'How long a draining pod still takes requests, for load balancers to notice.',
  ),
  PARLEY_INDEX_CHECK_MS: integer(
    60_000,
    100,
    86_400_000,
    'How often the worker checks the indexes against the rows.',
  ),
  PARLEY_CLEANUP_MS: integer(
    300_000,
    100,
    86_400_000,
    'How often the worker looks for what should have left.',
  ),
  PARLEY_LEASE_MS: integer(
    6_000,
    500,
    600_000,
    'How long a pod may be silent before its turns are taken over; it gives four signs of life in that time.',
  ),
  PARLEY_TAKE_OVER_MS: integer(2_000, 100, 600_000, 'How often the worker looks for turns of dead pods.'),
  PARLEY_HOLD_SECONDS: integer(
    300,
    1,
    604_800,
    'How long a pod holds a turn, and its stream, of which all waits for the person; then the answer has another pod go on.',
  ),
  PARLEY_OUTBOX_MS: integer(
    1_000,
    100,
    600_000,
    'How often the worker looks for what has still to happen after an elicitation ended.',
  ),
  PARLEY_CANARY_MS: integer(5_000, 100, 600_000, 'How often the timer canary comes round.'),

  PARLEY_LIMIT_USER_WRITES: integer(300, 1, 1e9, 'Writes of one user in 10 s.'),
  PARLEY_LIMIT_USER_STREAMS: integer(20, 1, 1e6, 'Open event streams of one user.'),
  PARLEY_LIMIT_USER_OPEN: integer(1_000, 1, 1e6, 'Open elicitations of one user.'),
  PARLEY_LIMIT_USER_HISTORY: integer(1_000, 1, 1e6, 'Ended elicitations listed for one user.'),
  PARLEY_LIMIT_ELICITATION_ANSWERS: integer(300, 1, 1e9, 'Answers to one elicitation in 10 s.'),
  PARLEY_LIMIT_CONNECT_FORMS: integer(
    600,
    1,
    1e6,
    'Forms sent from one address on the connect pages in 10 min; an office may share one.',
  ),
  PARLEY_LIMIT_CONNECT_FAILURES: integer(
    30,
    1,
    1e6,
    'Failed sign-ins, foreign links and refused keys from one address on the connect pages in 10 min.',
  ),
  PARLEY_LIMIT_SERVICE_CALLS: integer(50_000, 1, 1e9, 'Calls with one service key in 10 s.'),
  PARLEY_LIMIT_BODY_BYTES: integer(262_144, 1_024, 67_108_864, 'Size of a request body.'),
  PARLEY_LIMIT_MESSAGE_CHARACTERS: integer(10_000, 1, 1e6, 'Length of a message.'),
  PARLEY_LIMIT_SCHEMA_BYTES: integer(32_768, 256, 1e7, 'Size of a form schema.'),
  PARLEY_LIMIT_SCHEMA_PROPERTIES: integer(50, 1, 1_000, 'Fields of a form schema.'),
  PARLEY_LIMIT_FEED_EVENTS: integer(10_000, 100, 1e7, 'Events kept of one stream request, about.'),
  PARLEY_LIMIT_TURN_BYTES: integer(4_194_304, 10_000, 1e9, 'Bytes of events that one turn may tell.'),
  PARLEY_LIMIT_HISTORY_MESSAGES: integer(200, 2, 100_000, 'Messages that a conversation remembers.'),
  PARLEY_LIMIT_LOCAL_TIMERS: integer(
    200_000,
    0,
    1e7,
    'Deadlines one pod times itself; the others are left to the queue.',
  ),

  OTEL_EXPORTER_OTLP_ENDPOINT: text('OTLP over HTTP; sends traces and metrics there. Off when unset.'),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: text('OTLP endpoint for traces alone.'),
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: text('OTLP endpoint for metrics alone.'),
  OTEL_EXPORTER_OTLP_HEADERS: text('Headers of the OTLP exporter, `name=value` comma separated.'),
  OTEL_RESOURCE_ATTRIBUTES: text('Resource attributes, `name=value` comma separated.'),
  OTEL_SERVICE_NAME: text('Service name in telemetry. Default `parley-api` or `parley-worker`.'),
});
export type Env = z.infer<typeof Variables>;
