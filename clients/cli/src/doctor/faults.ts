/**
 * The faults that `parley doctor` can name, each with its setting and its remedy. docs/cli.md is generated from this list. How
 * a fault is found is not here, but in the checks beside this file.
 */

interface Fault {
  /** What is wrong, for the table of the docs. */
  readonly fault: string;
  /** How the command detects it. */
  readonly seen: string;
  /** The setting to which it belongs. */
  readonly key: string;
  readonly remedy: string;
}

/** The faults by their stable codes. */
export const FAULTS = {
  // The command
  node_too_old: {
    fault: 'Node is too old',
    seen: 'the version of the Node that runs the command',
    key: 'node',
    remedy: 'Install Node 20.19 or later.',
  },
  token_missing: {
    fault: 'no token is set',
    seen: 'the environment and `dev.json`',
    key: 'PARLEY_TOKEN',
    remedy: 'Set PARLEY_TOKEN, or name a file with --token-file.',
  },
  token_refused: {
    fault: 'the token has expired, is unknown or is signed with another secret',
    seen: '`GET /v1/elicitations` replies with 401; the time in a JWT is read',
    key: 'PARLEY_TOKEN',
    remedy: 'Get a new token. A service key must stand in PARLEY_API_KEYS of every pod.',
  },
  version_differs: {
    fault: 'the command and the server have different versions',
    seen: '`/openapi.json`',
    key: '@parley/cli',
    remedy: 'Install the version of the command that the server has.',
  },

  // The way to the server
  server_unreachable: {
    fault: 'the address is wrong, its name is unknown, nothing listens, or its certificate is not accepted',
    seen: 'the error of the connection',
    key: 'PARLEY_URL',
    remedy: 'Correct PARLEY_URL. For a certificate authority of your own, set NODE_EXTRA_CA_CERTS.',
  },
  redirected: {
    fault: 'the address redirects, so that clients lose their token or their POST',
    seen: '`/readyz` replies with a redirection',
    key: 'PARLEY_URL',
    remedy: 'Use the address to which it leads.',
  },
  not_parley: {
    fault: 'a sign-in page, a cache or another program answers',
    seen: '`/readyz` replies with something else than the readiness of a pod',
    key: 'PARLEY_URL',
    remedy: 'Send all paths of this host to the api, without a sign-in before it.',
  },
  plain_http: {
    fault: 'tokens and answers travel without TLS',
    seen: 'the address begins with http and names another machine',
    key: 'PARLEY_URL',
    remedy: 'Put TLS in front, and use the https address.',
  },
  session_affinity: {
    fault: 'the proxy binds each caller to one pod',
    seen: '`/readyz`, which sets no cookie, comes with one',
    key: 'proxy',
    remedy: 'Turn session affinity off: answers reach every pod.',
  },
  stream_refused: {
    fault: 'a stream cannot be opened',
    seen: 'the status of an event stream of its own',
    key: 'proxy',
    remedy: 'Pass the replies of /v1/streams and /v1/inbox on unchanged.',
  },
  stream_compressed: {
    fault: 'the proxy compresses event streams, which holds events back',
    seen: 'an event stream comes with content-encoding',
    key: 'proxy',
    remedy: 'Turn compression off for text/event-stream (gzip off).',
  },
  stream_buffered: {
    fault: 'the proxy holds back the events of streams',
    seen: 'the first line, or a heartbeat, does not come in time',
    key: 'proxy',
    remedy: 'Turn buffering off (proxy_buffering off), and compare with infra/proxy.',
  },
  stream_cut: {
    fault: 'the proxy, or a balancer before it, cuts silent streams before a heartbeat comes',
    seen: 'a stream ends before its first heartbeat',
    key: 'PARLEY_HEARTBEAT_MS',
    remedy: 'Raise the idle time-out of each proxy above a minute, or lower PARLEY_HEARTBEAT_MS below it.',
  },
  public_url_differs: {
    fault: 'PARLEY_PUBLIC_URL is another address, so links, redirect URIs and audiences name that one',
    seen: 'the metadata of the MCP endpoint',
    key: 'PARLEY_PUBLIC_URL',
    remedy:
      'Set it to the address that browsers use, and register its redirect URIs, if people do not use it already.',
  },
  origin_refused: {
    fault: 'a page of your application may not call',
    seen: 'the reply to the preflight request of a browser (with `--origin`)',
    key: 'PARLEY_CORS_ORIGINS',
    remedy: 'Add the origin of the page to PARLEY_CORS_ORIGINS, and let the proxy pass OPTIONS.',
  },
  metrics_exposed: {
    fault: 'metrics can be read from outside',
    seen: '`/metrics` of the address',
    key: 'PARLEY_METRICS_HOST',
    remedy: 'Route no proxy to the metrics ports.',
  },

  // The pods
  server_not_ready: {
    fault: 'pods are not ready: they drain, or Redis cannot be used, with the code that the pod gives',
    seen: 'several replies of `/readyz`',
    key: 'REDIS_URL',
    remedy: 'Run this command with the environment of a pod: it then says what is wrong with its Redis.',
  },
  vault_unavailable: {
    fault: 'the Redis of the vault cannot be used',
    seen: '`/readyz` has `vault: false`',
    key: 'PARLEY_VAULT_REDIS_URL',
    remedy: 'Run this command with the environment of a pod.',
  },
  worker_missing: {
    fault: 'no worker runs timers',
    seen: 'the age of the timer canary (`/readyz`, `/v1/admin/installation`)',
    key: 'worker',
    remedy:
      'Start a worker with the Redis and the PARLEY_TIMER_QUEUES of the pods, or restart one that hangs.',
  },
  mixed_builds: {
    fault: 'pods of two versions serve, so also two versions of BullMQ and of the scripts',
    seen: 'several replies of `/openapi.json`',
    key: 'image',
    remedy: 'Finish the rollout, or pin one image.',
  },
  clock_wrong: {
    fault:
      'the clock of this machine, of a pod or of Redis is wrong: tokens count as expired, or as not valid yet',
    seen: 'the header Date of replies, and `TIME` of Redis',
    key: 'clock',
    remedy: 'Synchronize the clocks of all machines (NTP).',
  },
  pod_clocks_differ: {
    fault: 'the clocks of the pods differ',
    seen: 'the header Date of several replies at once',
    key: 'clock',
    remedy: 'Synchronize the clocks of the nodes (NTP).',
  },
  admin_missing: {
    fault: 'the token may not read what runs',
    seen: '`/v1/admin/installation` replies with 403',
    key: 'PARLEY_API_KEYS',
    remedy: 'Use a service key with the scope admin to see pods, queues and memory.',
  },
  pods_lapsed: {
    fault: 'pods have died and are still remembered',
    seen: '`/v1/admin/installation`',
    key: 'api',
    remedy:
      'Find out why they ended (log, memory limit). A name that you do not know is another installation on the same Redis.',
  },
  jobs_failed: {
    fault: 'jobs of timers or of turns have failed',
    seen: '`/v1/admin/installation`',
    key: 'worker',
    remedy: 'Read the log of the workers.',
  },
  jobs_behind: {
    fault: 'workers do not keep up',
    seen: '`/v1/admin/installation`: jobs that wait',
    key: 'worker',
    remedy: 'Add workers, or look at the latency of Redis.',
  },
  dead_letters: {
    fault: 'webhooks were given up',
    seen: '`/v1/admin/installation`',
    key: 'webhookUrl',
    remedy: 'Repair the receiver, then deliver them again (docs/webhooks.md).',
  },
  webhook_secret_missing: {
    fault: 'webhooks were given up because the tenant has no secret',
    seen: 'the reasons of `GET /v1/webhooks/dead-letters`',
    key: 'PARLEY_WEBHOOK_SECRETS',
    remedy: 'Set a secret for the tenant on api and worker, then deliver the webhooks again.',
  },

  // The environment of a pod
  settings_invalid: {
    fault: 'a setting of Redis is invalid, or its file cannot be read',
    seen: 'the environment',
    key: 'PARLEY_REDIS_*',
    remedy: 'Correct it as the text says.',
  },
  jwks_unreachable: {
    fault: 'the keys of the sign-in provider cannot be read, so that tokens of people are refused',
    seen: 'the address in the environment is read',
    key: 'PARLEY_JWT_JWKS_URL',
    remedy: 'Correct PARLEY_JWT_JWKS_URL, and allow the pods to reach it.',
  },
  issuer_unreachable: {
    fault: 'the discovery document of the sign-in provider cannot be read',
    seen: 'the address in the environment is read',
    key: 'PARLEY_CONNECT_OIDC_ISSUER',
    remedy: 'Correct PARLEY_CONNECT_OIDC_ISSUER, and allow the pods to reach it.',
  },
  issuer_differs: {
    fault: 'the sign-in provider calls itself otherwise, such as with a slash at the end',
    seen: '`issuer` of its discovery document',
    key: 'PARLEY_CONNECT_OIDC_ISSUER',
    remedy: 'Use exactly the issuer that the provider names.',
  },
  one_timer_queue: {
    fault: 'one node of a Cluster has all timers',
    seen: 'the environment',
    key: 'PARLEY_TIMER_QUEUES',
    remedy: 'Set PARLEY_TIMER_QUEUES above 1, to the same number everywhere.',
  },

  // A Redis that can be used
  evicts: {
    fault: 'Redis removes keys when its memory is full, open questions too',
    seen: 'INFO memory',
    key: 'redis',
    remedy: 'Set its maxmemory-policy to noeviction.',
  },
  evicted: {
    fault: 'Redis has removed keys because its memory was full',
    seen: 'INFO stats',
    key: 'redis',
    remedy: 'Set its maxmemory-policy to noeviction, and give it more memory.',
  },
  memory_nearly_full: {
    fault: 'Redis has used more than nine tenths of its memory',
    seen: 'INFO memory, or `/v1/admin/installation`',
    key: 'redis',
    remedy: 'Raise maxmemory and the limit of the container, or shorten PARLEY_RETENTION_SECONDS.',
  },
  no_memory_limit: {
    fault: 'Redis has no limit of memory, and ends with its machine',
    seen: 'INFO memory, or `/v1/admin/installation`',
    key: 'redis',
    remedy: 'Set maxmemory to half of the limit of the container (docs/operations.md).',
  },
  aof_off: {
    fault: 'Redis writes no append-only file: a crash loses answers that were acknowledged',
    seen: 'INFO persistence',
    key: 'redis',
    remedy: 'Set appendonly yes and appendfsync everysec, unless its provider keeps writes in another way.',
  },
  write_failed: {
    fault: 'Redis could not write its last file to its disk',
    seen: 'INFO persistence',
    key: 'redis',
    remedy: 'Look at the space and the health of its disk, and at its log.',
  },
  connections_refused: {
    fault: 'Redis has refused connections, because it had too many',
    seen: 'INFO stats',
    key: 'redis',
    remedy: 'Raise maxclients, or find who opens so many.',
  },
  redis_slow: {
    fault: 'Redis takes long for a command',
    seen: 'the time of `TIME`, from this machine',
    key: 'redis',
    remedy: 'Put it near the pods, and look at SLOWLOG GET and LATENCY LATEST.',
  },
} satisfies Readonly<Record<string, Fault>>;

export type FaultCode = keyof typeof FAULTS;
