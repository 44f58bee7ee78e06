/**
 * The one schema of all environment variables, so that the start, the docs and the tests know the same names, defaults and
 * bounds. Checks across several variables are not here: `env.ts` and the files beside it make them.
 */

import { hostname } from 'node:os';
import { z } from 'zod';
import { SCOPES } from '../domain/service-key.ts';
import { METRIC_NAMES } from '../observe/metrics/named-meter.ts';
import { LIMIT_VARIABLES } from './variables/limits.ts';
import { PAGE_VARIABLES } from './variables/pages.ts';
import { flag, integer, list, nodes, text } from './variables/schemas.ts';
import { SLACK_VARIABLES } from './variables/slack.ts';
import { TIME_VARIABLES } from './variables/times.ts';

/** Every environment variable that Parley reads. docs/configuration.md is generated from it. */
export const Variables = z.object({
  NODE_ENV: z
    .enum(['production', 'development', 'test'])
    .default('development')
    .describe('`production` refuses settings that are for development only.'),
  PORT: integer([3000, 0, 65_535], 'Port of the API; 0 selects a free one.'),
  PARLEY_HOST: z.string().default('0.0.0.0').describe('Address to listen on.'),
  PARLEY_METRICS_PORT: integer(
    [9464, 0, 65_535],
    "Port of /metrics (and of the worker's health); 0 for none.",
  ),
  PARLEY_METRICS_NAMES: z
    .enum(METRIC_NAMES)
    .default('both')
    .describe(
      'Names of the metrics. `prefixed`: with `parley_` and units, as `infra/telemetry/metrics.json` lists them. `both`: also without, as earlier builds had them; the next release has the prefixed ones alone. Default both.',
    ),
  PARLEY_METRICS_HOST: z
    .string()
    .default('127.0.0.1')
    .describe(
      "Address on which /metrics (and the worker's health) listens. Loopback by default; the images set `0.0.0.0`, because a scraper is outside of their container.",
    ),
  PARLEY_POD: z
    .string()
    .max(64)
    .default(`${hostname()}-${process.pid}`.slice(-64))
    .describe('Name of this process in logs. Default host and pid.'),
  PARLEY_DELEGATES: z
    .enum(['same-pod', 'any-pod'])
    .default('same-pod')
    .describe(
      'Where a delegated run is executed: on the pod of the turn, or on the first pod that takes it. The same on all pods. Default same-pod.',
    ),
  PARLEY_OPENAI_STEPS: z
    .enum(['live', 'buffered'])
    .default('live')
    .describe(
      'How text is sent in the OpenAI format, which cannot take text back when another pod repeats a step. `live`: at once; a repeated step ends the reply with the error `step_restarted`. `buffered`: one step at a time. Default live.',
    ),
  PARLEY_PUBLIC_URL: text(
    'Origin of the hosted connect pages for browsers, such as https://auth.example.com. All pods serve them under /auth. Required where agents use credentials of their users.',
  ),
  PARLEY_CONFIG: text(
    'Path of the YAML file with models, agents, tools and connectors (docs/agents.md). Read once, at start. Without it there are no agents.',
  ),
  PARLEY_LOG_MCP_STDERR: flag(
    '`true`: logs what programs of MCP servers (stdio) and ACP agents write to stderr, for example to find out why one does not start. They may repeat answers and secrets there, so production refuses this setting. Without it, the log records only that they wrote something.',
  ),
  PARLEY_LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .default('info')
    .describe('Lowest level to log.'),

  REDIS_URL: text(
    'One Redis server, `redis://` or `rediss://`. Without any Redis the api runs alone on the memory backend.',
  ),
  PARLEY_REDIS_SENTINELS: nodes('Sentinels, `host:port` comma separated. Overrides REDIS_URL.'),
  PARLEY_REDIS_SENTINEL_NAME: z.string().default('mymaster').describe('Name of the master group.'),
  PARLEY_REDIS_SENTINELS_USERNAME: text('ACL user of the Sentinels, if they require one.'),
  PARLEY_REDIS_SENTINELS_PASSWORD: text('Password of the Sentinels, if they require one.'),
  PARLEY_REDIS_CLUSTER: nodes(
    'Some nodes of a Redis Cluster, `host:port` comma separated. Overrides REDIS_URL.',
  ),
  PARLEY_REDIS_USERNAME: text('ACL user.'),
  PARLEY_REDIS_PASSWORD: text('Password of the ACL user.'),
  PARLEY_REDIS_TLS: flag('`true`: TLS to Sentinel or Cluster (for one server, use `rediss://`).'),
  PARLEY_TIMER_QUEUES: integer(
    [1, 1, 64],
    'Number of BullMQ queues for deadlines; several for a Cluster. Workers also find the timers of pods with another number.',
  ),

  PARLEY_JWT_SECRET: text('Secret of HS256 user tokens; at least 32 characters in production.'),
  PARLEY_JWT_JWKS_URL: text('JWKS of the issuer of user tokens.'),
  PARLEY_JWT_ISSUER: text('Issuer that user tokens must name; required with a JWKS.'),
  PARLEY_JWT_AUDIENCE: text('Audience that user tokens must name; required with a JWKS.'),
  PARLEY_JWT_TENANTS: list(
    'Tenants for which the issuer of the JWKS may issue tokens, comma separated. Default `default`.',
  ),
  PARLEY_JWT_MAX_AGE_SECONDS: integer(
    [86_400, 60, 31_536_000],
    'How long after its `iat` a user token without `exp` is accepted. Streams end with their token; those of a token with neither claim last this long.',
  ),
  PARLEY_JWT_KEYS_KEPT_SECONDS: integer(
    [3_600, 0, 604_800],
    'How long keys of the JWKS that were read are used while the issuer cannot be reached.',
  ),
  PARLEY_JWT_USER_CLAIM: z
    .string()
    .min(1)
    .default('sub')
    .describe('Claim that names the user. With `email`, tokens need `email_verified: true`.'),
  PARLEY_API_KEYS: list(
    `Service keys, comma separated: \`tenant:secret\`, or \`tenant/name/scopes/expiry:secret\` with some of the scopes ${SCOPES.map((scope) => `\`${scope}\``).join(', ')} joined by \`+\` and the first day (UTC) on which the key is refused, such as \`acme/billing/ask+read/2027-01-31:secret\`. Expiry, scopes and name may be omitted, in this order. Default scopes: \`ask+read+chat\`. Secrets have at least 8 characters, 24 in production.`,
  ),
  PARLEY_MCP_URL: text(
    'Address at which MCP clients reach `/run/v1/mcp`. The protected-resource metadata name it. Default `<PARLEY_PUBLIC_URL>/run/v1/mcp`.',
  ),
  PARLEY_MCP_AUDIENCE: text('Audience that tokens must name at `/run/v1/mcp`. Default PARLEY_JWT_AUDIENCE.'),
  PARLEY_MCP_SECRET: text(
    'Secret of at least 32 characters that signs the `requestState` of MCP calls; the same on all pods. Default: a key derived from PARLEY_JWT_SECRET or from the first of PARLEY_VAULT_KEYS, of which each verifies; without them a random key, which is right for one pod only.',
  ),
  PARLEY_MCP_ANSWER_PAGE_SECONDS: integer(
    [60, 0, 604_800],
    'How long an MCP client may leave a form unanswered before the progress of its call names the hosted answer page. Needs PARLEY_PUBLIC_URL and pages on which people sign in.',
  ),
  PARLEY_MCP_SESSION_SECONDS: integer(
    [86_400, 60, 31_536_000],
    'How long a session of an MCP client is kept after its last request.',
  ),
  PARLEY_MCP_SUBSCRIPTIONS: integer(
    [100, 1, 1_000],
    'Resources to which a session of an MCP client, or one `subscriptions/listen`, may be subscribed at once.',
  ),

  PARLEY_A2A_URL: text(
    'Origin at which A2A clients reach `/run/a2a`. The agent cards name it. With PARLEY_VAULT_KEYS, remote agents that this deployment calls push to it (`/run/a2a-pushed`). Default the origin of PARLEY_PUBLIC_URL; without both, cards name the origin of the request, and nobody pushes.',
  ),
  PARLEY_A2A_AUDIENCE: text('Audience that tokens must name at `/run/a2a`. Default PARLEY_JWT_AUDIENCE.'),
  PARLEY_A2A_HOPS: integer(
    [5, 1, 100],
    'How many deployments may have delegated a task over A2A or AG-UI, one to the next, by the time that it comes here. A longer chain is refused: its agents may delegate to each other in a circle.',
  ),
  PARLEY_A2A_SIGNING_KEY: text(
    'Private key on P-256 (PEM, PKCS #8) that signs the agent cards; the same on all pods. Line breaks may be written as `\\n`. Needs PARLEY_A2A_URL or PARLEY_PUBLIC_URL. Without it the cards are not signed.',
  ),

  PARLEY_CORS_ORIGINS: list(
    'Origins of pages that may call from a browser, comma separated. In development, `http://localhost:*` is any port of this machine.',
  ),

  PARLEY_WEBHOOK_SECRETS: list(
    'Secrets that sign webhooks, `tenant:whsec_<base64 of 24 to 64 bytes>` comma separated; the same on every api and worker. All secrets of a tenant sign, the newest first, so that they can be rotated. Without one, a tenant cannot ask with a webhookUrl.',
  ),
  PARLEY_DEAD_LETTER_SECONDS: integer(
    [2_592_000, 60, 31_536_000],
    'How long an undeliverable webhook, and its elicitation, stay in the list of dead letters.',
  ),

  PARLEY_VAULT_KEYS: list(
    'Master keys of the credential vault, `id:base64 of 32 bytes` comma separated. The first one seals. The others open older records until `npm run rekey` has finished.',
  ),
  PARLEY_VAULT_REDIS_URL: text(
    'A separate Redis server for the credentials, `redis://` or `rediss://`. It must not evict keys. Default: the Redis for everything else.',
  ),

  PARLEY_CONNECT_IDENTITY: z
    .enum(['oidc', 'session', 'dev'])
    .optional()
    .describe(
      'How the connect pages identify the person: `oidc` by sign-in at an OpenID provider, `session` by your own backend (`POST /auth/complete`), `dev` by a name that the person types (development only).',
    ),
  PARLEY_CONNECT_OIDC_ISSUER: text('Issuer of the OpenID provider for sign-in on the connect pages.'),
  PARLEY_CONNECT_OIDC_CLIENT_ID: text(
    'Client id of Parley at that provider. Its redirect URI is `<PARLEY_PUBLIC_URL>/auth/signed-in`.',
  ),
  PARLEY_CONNECT_OIDC_CLIENT_SECRET: text('Secret of that client. Unset for a public client.'),
  PARLEY_CONNECT_USER_CLAIM: z
    .string()
    .min(1)
    .default('sub')
    .describe(
      'Claim of that sign-in that contains the userId of questions. A person without this claim is refused.',
    ),
  PARLEY_CONNECT_TENANTS: list(
    'Tenants whose people sign in at that provider, comma separated. With several, the claim `tenant` selects one. Default `default`.',
  ),
  PARLEY_CONNECT_SESSION_URL: text(
    'With PARLEY_CONNECT_IDENTITY=session: https URL of your page to which people are redirected, with `?session=`.',
  ),
  PARLEY_CONNECT_TELL_ORIGINS: list(
    'Origins of pages that are notified by postMessage when a connect page that they opened is done, comma separated.',
  ),
  PARLEY_CONNECT_PROXY_HOPS: integer(
    [0, 0, 10],
    'Number of proxies in front of the api that add to X-Forwarded-For. 0: the address of the connection is used.',
  ),

  ...PAGE_VARIABLES,

  ...SLACK_VARIABLES,

  ...TIME_VARIABLES,

  ...LIMIT_VARIABLES,

  OTEL_SDK_DISABLED: z
    .enum(['true', 'false'])
    .default('false')
    .describe('`true`: nothing is exported. Metrics can still be scraped.'),
  OTEL_TRACES_EXPORTER: list(
    '`otlp`, `console`, `zipkin` or `none`. Default: `otlp` with an endpoint for traces, else `none`.',
  ),
  OTEL_METRICS_EXPORTER: list(
    '`otlp`, `console` or `none`, beside the scrapes. Default: `otlp` with an endpoint for metrics, else `none`.',
  ),
  OTEL_LOGS_EXPORTER: list(
    'For records of a log instrumentation that you load: `otlp`, `console` or `none`. Default `none`.',
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: text('OTLP endpoint for traces and metrics, e.g. `http://collector:4318`.'),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: text('OTLP endpoint for traces alone.'),
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: text('OTLP endpoint for metrics alone.'),
  OTEL_EXPORTER_OTLP_PROTOCOL: text('`http/protobuf` (default), `http/json` or `grpc`.'),
  OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: text('The same for metrics alone.'),
  OTEL_METRIC_EXPORT_INTERVAL: integer(
    [60_000, 100, 86_400_000],
    'Milliseconds between two exports of metrics.',
  ),
  OTEL_METRIC_EXPORT_TIMEOUT: integer(
    [5_000, 100, 600_000],
    'Milliseconds that one export of metrics may take.',
  ),
  OTEL_SERVICE_NAME: text('Service name in telemetry. Default `parley-api` or `parley-worker`.'),
});
export type Env = z.infer<typeof Variables>;

/** Secrets that may come from a file instead: `<NAME>_FILE` is its path. */
export const FILE_VARIABLES = [
  'PARLEY_REDIS_PASSWORD',
  'PARLEY_REDIS_SENTINELS_PASSWORD',
  'PARLEY_JWT_SECRET',
  'PARLEY_MCP_SECRET',
  'PARLEY_A2A_SIGNING_KEY',
  'PARLEY_API_KEYS',
  'PARLEY_WEBHOOK_SECRETS',
  'PARLEY_VAULT_KEYS',
  'PARLEY_CONNECT_OIDC_CLIENT_SECRET',
  'PARLEY_SLACK_CLIENT_SECRET',
  'PARLEY_SLACK_SIGNING_SECRET',
  'PARLEY_SLACK_APP_TOKEN',
] as const satisfies readonly (keyof Env)[];
