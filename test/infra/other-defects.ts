import type { Planted } from './planted-tree.ts';

const dashboard = 'infra/telemetry/grafana/dashboards/parley.json';
const alerts = 'infra/telemetry/alerts.yml';
const compose = 'docker-compose.yml';
const docker = 'infra/Dockerfile';
const acl = 'infra/redis/users.acl';

/** Defects in everything else, by the check that must catch them. */
export const otherDefects: Readonly<Record<string, readonly Planted[]>> = {
  'dashboard names': [
    ['an unknown metric', [dashboard, 'max(elicitation_pending)', 'max(open)'], /unknown metric open/],
    ['an unknown label', [dashboard, 'sum by (trigger)', 'sum by (userId)'], /userId/],
    ['an expression that does not parse', [dashboard, 'max(elicitation_pending)', 'max(('], /no PromQL/],
    ['a legend without its label', [dashboard, '{{trigger}}', '{{surface}}'], /legend/],
    [
      'a sum over pods that report the same',
      [dashboard, 'max(elicitation_pending)', 'sum(elicitation_pending)'],
      /summed/,
    ],
    ['a variable over an unknown label', [dashboard, '_total, tenant)', '_total, town)'], /town/],
    ['another data source', [dashboard, '"uid": "parley-prometheus"', '"uid": "other"'], /not provisioned/],
    [
      'a metric on no panel',
      [
        'infra/telemetry/metrics.json',
        '{\n',
        '{"unused": {"type": "gauge", "labels": [], "scope": "pod", "help": "x"},\n',
      ],
      /unused is on no dashboard/,
    ],
  ],
  'alert names': [
    ['an unknown metric', [alerts, 'max(timer_canary_age)', 'max(canary_age)'], /canary_age/],
    ['an unknown filter', [alerts, 'source="sweep"', 'cause="sweep"'], /unknown label cause/],
    ['no runbook', ['docs/operations.md', '### ParleyWakesLost', '### Wakes'], /parleywakeslost/],
    ['no severity', [alerts, 'labels: { severity: page }', 'labels: {}'], /severity/],
  ],
  'promtool check config': [
    [
      'a misspelt setting',
      ['infra/telemetry/prometheus.yml', 'scrape_timeout', 'scrape_timeot'],
      /scrape_timeot/,
    ],
    [
      'an expression that does not parse',
      [alerts, 'max(timer_canary_age)', 'max((timer_canary_age)'],
      /parse error/,
    ],
  ],
  'promtool test rules': [
    ['an alert that fires too late', [alerts, '> 120\n        for: 2m', '> 120\n        for: 2h'], /Canary/],
  ],
  'compose policy': [
    [
      'Redis published',
      [compose, '    user: "999:999"', '    ports: ["127.0.0.1:6379:6379"]'],
      /Redis is published/,
    ],
    ['a writable image', [compose, '  read_only: true\n', ''], /read_only/],
    ['capabilities', [compose, 'cap_drop: [ALL]', 'cap_drop: [NET_RAW]'], /cap_drop/],
    ['root', [compose, 'user: "999:999"', 'user: "0:0"'], /runs as root/],
    [
      'a secret that looks real',
      [compose, 'PARLEY_REDIS_PASSWORD:-make', 'PARLEY_REDIS_PASSWORD:-hunter2hunter2hunter2'],
      /everybody can read/,
    ],
    [
      'a file that is not there',
      [compose, './infra/proxy/haproxy.cfg', './infra/proxy/haproxy.conf'],
      /does not exist/,
    ],
    ['two pods', [compose, '  api-3: *api\n', ''], /2 api pods/],
  ],
  dclint: [
    ['a port for everybody', [compose, '"127.0.0.1:$', '"$'], /no-unbound-port-interfaces/],
    ['the moving tag', [compose, 'prometheus:v3.5.0', 'prometheus:latest'], /explicit-tag/],
    ['a misspelt field', [compose, 'stop_grace_period', 'stop_grace'], /invalid-schema/],
  ],
  'docker-compose config': [
    ['a dependency that is not there', [compose, '[api-1, api-2, api-3]', '[api-1, api-4]'], /api-4/],
  ],
  'settings in docker-compose.yml': [
    [
      'a setting that no code reads',
      [compose, 'PARLEY_LOG_LEVEL:', 'LOG_LEVEL:'],
      /reads no variable LOG_LEVEL/,
    ],
    ['a setting that is wrong', [compose, 'redis://redis', 'tcp://redis'], /REDIS_URL/],
  ],
  Dockerfile: [
    ['an unknown instruction', [docker, 'COPY . .', 'COPPY . .'], /Unknown instruction: COPPY/],
    ['root', [docker, 'USER 1000:1000', 'USER root'], /USER must be a number/],
    ['no user', [docker, 'USER 1000:1000\n', ''], /there is no USER/],
    ['a user by name', [docker, 'USER 1000:1000', 'USER node'], /must be a number/],
    ['the moving tag', [docker, 'NODE_VERSION=22', 'NODE_VERSION=lts'], /not pinned/],
    ['a remote file', [docker, 'COPY . .', 'ADD https://example.com/x.tgz .'], /ADD/],
    ['a loose install', [docker, 'RUN npm ci --ignore-scripts\n', 'RUN npm install\n'], /lockfile/],
    ['a secret in a layer', [docker, 'ARG VERSION=0.1.0', 'ARG NPM_TOKEN=abc'], /secret/],
    ['no health check', [docker, '/healthz', '/health'], /HEALTHCHECK/],
    [
      'a shell in between',
      [docker, 'CMD ["node", "services/api', 'CMD ["sh", "-c", "node services/api'],
      /SIGTERM/,
    ],
  ],
  '.dockerignore': [['everything let in', ['.dockerignore', '*\n', ''], /leaving everything out/]],
  'haproxy -c': [
    [
      'an unknown setting',
      ['infra/proxy/haproxy.cfg', 'balance roundrobin', 'balanse roundrobin'],
      /balanse/,
    ],
  ],
  'nginx -t': [
    [
      'an unknown setting',
      ['infra/proxy/nginx.conf', 'proxy_buffering off', 'proxy_bufering off'],
      /proxy_bufering/,
    ],
  ],
  'nginx buffering': [
    [
      'a buffering proxy',
      ['infra/proxy/nginx.conf', 'proxy_buffering off', 'proxy_buffering on'],
      /buffers streams/,
    ],
  ],
  'redis starts as configured': [
    ['an unknown setting', ['infra/redis/redis.conf', 'hz 100', 'herz 100'], /herz/],
    [
      'eviction',
      ['infra/redis/redis.conf', 'policy noeviction', 'policy allkeys-lru'],
      /maxmemory-policy is allkeys-lru/,
    ],
    ['an unknown command', [acl, '+script|load', '+script|lode'], /users\.acl/],
  ],
  'redis users may do nothing else': [
    ['a command too many', [acl, '+eval ', '+eval +keys '], /parley may KEYS/],
    ['keys of others', [acl, '~parley:*', '~*'], /parley may GET other/],
    ['channels of others', [acl, '&parley:*', '&*'], /parley may SUBSCRIBE other/],
    ['an operator who writes', [acl, '+bgsave', '+bgsave +set'], /operator may SET/],
    [
      'a user without a password',
      [acl, 'user default off resetpass resetkeys resetchannels -@all', 'user default on nopass ~* &* +@all'],
      /without the password: user default/,
    ],
  ],
  'redis users may do their work': [
    ['a command too few', [acl, '+evalsha ', ''], /parley may not EVALSHA/],
    ["a command of Parley's scripts too few", [acl, '-randomkey', '-randomkey -unlink'], /may not unlink/],
    [
      "a command of BullMQ's scripts too few",
      [acl, '-randomkey', '-randomkey -rpoplpush'],
      /may not rpoplpush/,
    ],
    ['a channel too few', [acl, '&parley:*', '&parley:y'], /may not SUBSCRIBE/],
  ],
};
