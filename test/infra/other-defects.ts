import type { Planted } from './planted-tree.ts';

const dashboard = 'infra/telemetry/grafana/dashboards/parley.json';
const alerts = 'infra/telemetry/alerts.yml';
const compose = 'docker-compose.yml';
const docker = 'infra/Dockerfile';
const haproxy = 'infra/proxy/haproxy.cfg';
const nginx = 'infra/proxy/nginx.conf';
const acl = 'infra/redis/users.acl';

/** Defects in everything else, by the check that must catch them. */
export const otherDefects: Readonly<Record<string, readonly Planted[]>> = {
  'telemetry dashboards': [
    [
      'an unknown metric',
      [dashboard, 'max(elicitation_pending)', 'max(elicitations_open)'],
      /elicitations_open/,
    ],
    ['an unknown label', [dashboard, 'sum by (trigger)', 'sum by (userId)'], /userId/],
    ['a legend without its label', [dashboard, '{{trigger}}', '{{surface}}'], /legend/],
    [
      'a sum over pods that report the same',
      [dashboard, 'max(elicitation_pending)', 'sum(elicitation_pending)'],
      /summed/,
    ],
    ['another data source', [dashboard, '"uid": "parley-prometheus"', '"uid": "other"'], /not provisioned/],
  ],
  'telemetry alerts': [
    ['an unknown metric', [alerts, 'max(timer_canary_age)', 'max(canary_age)'], /canary_age/],
    ['an unknown filter', [alerts, 'source="sweep"', 'cause="sweep"'], /no label cause/],
    ['no runbook', ['docs/operations.md', '### ParleyWakesLost', '### Wakes'], /parleywakeslost/],
    ['no severity', [alerts, 'labels: { severity: page }', 'labels: {}'], /severity/],
  ],
  'telemetry shows every metric somewhere': [
    [
      'a metric nobody sees',
      [
        'infra/telemetry/metrics.json',
        '{\n',
        '{"never_seen": {"type": "gauge", "labels": [], "scope": "pod", "help": "x"},\n',
      ],
      /never_seen/,
    ],
  ],
  'telemetry collector pipelines': [
    [
      'an exporter that is not there',
      ['infra/telemetry/otel-collector.yaml', 'exporters: [debug]', 'exporters: [jaeger]'],
      /jaeger/,
    ],
  ],
  'compose file': [
    ['a port for everybody', [compose, '"127.0.0.1:$', '"$'], /beyond this machine/],
    [
      'Redis published',
      [compose, '    user: "999:999"', '    ports: ["127.0.0.1:6379:6379"]'],
      /publishes Redis/,
    ],
    ['the moving tag', [compose, 'prometheus:v3.5.0', 'prometheus:latest'], /not pinned/],
    [
      'a secret that looks real',
      [compose, 'development-only-redis-password', 'hunter2hunter2hunter2'],
      /development-only/,
    ],
    [
      'a file that is not there',
      [compose, './infra/proxy/haproxy.cfg', './infra/proxy/haproxy.conf'],
      /does not exist/,
    ],
    ['two pods', [compose, '  api-3: *api\n', ''], /2 api pods/],
  ],
  Dockerfile: [
    ['root', [docker, 'USER 1000:1000', 'USER root'], /runs as root/],
    ['a user by name', [docker, 'USER 1000:1000', 'USER node'], /must be a number/],
    ['the moving tag', [docker, 'NODE_VERSION=22', 'NODE_VERSION=lts'], /not pinned/],
    ['a remote file', [docker, 'COPY . .', 'ADD https://example.com/x.tgz .'], /ADD/],
    ['a loose install', [docker, 'RUN npm ci --ignore-scripts\n', 'RUN npm install\n'], /lockfile/],
    ['a secret in a layer', [docker, 'ARG VERSION=0.1.0', 'ARG NPM_TOKEN=abc'], /secret/],
    [
      'a shell in between',
      [docker, 'CMD ["node", "services/api', 'CMD ["sh", "-c", "node services/api'],
      /SIGTERM/,
    ],
  ],
  '.dockerignore': [['everything let in', ['.dockerignore', '*\n', ''], /leaving everything out/]],
  'haproxy.cfg rules': [
    ['sticky', [haproxy, 'balance roundrobin', 'balance source'], /sticks/],
    ['a POST sent twice', [haproxy, 'retry-on conn-failure', 'retry-on all-retryable-errors'], /twice/],
    ['query strings logged', [haproxy, '%[var(txn.path)]', '%r'], /query strings/],
    ['callers believed', [haproxy, 'X-Forwarded-For %[src]', 'X-Real-IP %[src]'], /X-Forwarded-For/],
  ],
  'nginx.conf rules': [
    ['sticky', [nginx, 'upstream api {', 'upstream api {\n    ip_hash;'], /sticks/],
    ['buffering', [nginx, 'proxy_buffering off', 'proxy_buffering on'], /buffers/],
    ['a POST sent twice', [nginx, 'error timeout;', 'error timeout non_idempotent;'], /twice/],
    ['query strings logged', [nginx, '$request_method $uri', '$request'], /query strings/],
  ],
  'redis-server starts with redis.conf and users.acl': [
    ['an unknown setting', ['infra/redis/redis.conf', 'hz 100', 'herz 100'], /herz/],
    [
      'eviction',
      ['infra/redis/redis.conf', 'policy noeviction', 'policy allkeys-lru'],
      /maxmemory-policy is allkeys-lru/,
    ],
    ['an unknown command', [acl, '+script|load', '+script|lode'], /users\.acl/],
  ],
  'redis user parley can do nothing else': [
    ['a command too many', [acl, '+eval ', '+eval +keys '], /parley may KEYS/],
    ['keys of others', [acl, '~parley:*', '~*'], /parley may GET other/],
    ['channels of others', [acl, '&parley:*', '&*'], /parley may SUBSCRIBE other/],
    [
      'an open door',
      [acl, 'user default off resetpass resetkeys resetchannels -@all', 'user default on nopass ~* &* +@all'],
      /without the password/,
    ],
  ],
  'redis user parley can do the work, BullMQ included': [
    ['a command too few', [acl, '+evalsha ', ''], /BullMQ: NOPERM/],
    ['a channel too few', [acl, '&parley:*', '&parley:x'], /may not subscribe/],
  ],
};
