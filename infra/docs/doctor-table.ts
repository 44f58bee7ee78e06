/**
 * Writes what docs/cli.md says of `parley doctor`, from the list of faults that the command itself uses. Only what the command does
 * not print stands here: the faults that it cannot see, and short words for those of a Redis.
 */
import { FAULTS } from '../../clients/cli/src/doctor/faults.ts';
import { REDIS_SETTINGS } from '../../clients/cli/src/doctor/redis-faults.ts';
import type { RedisFaultCode } from '../../shared/src/ports/redis-diagnosis.ts';

const BEGIN = '<!-- faults: npm run docs -->';
const END = '<!-- end of faults -->';

/** Faults that cannot be seen from outside or cannot happen, why, and where they show. */
const UNSEEN: readonly (readonly [fault: string, why: string, where: string])[] = [
  [
    'two installations share one Redis and one prefix',
    'their pods look alike',
    '`pods` of `/v1/admin/installation` has names that you do not know',
  ],
  [
    'a redirect URI is not registered',
    'only the provider knows its list, and tells it to nobody',
    'the page of the provider at the first sign-in; [the tutorial](tutorial.md) has the exact addresses',
  ],
  [
    'a time-out of the proxy for long polls (`/wait`) or for chats without a stream',
    'a probe would have to ask a question and to wait for minutes',
    '[the rules of the proxy](operations.md#the-proxy-in-front)',
  ],
  [
    'a proxy sends a POST twice, or speaks HTTP/1.0 to the pods',
    'the client of a proxy sees neither',
    'the log of the proxy; `infra/check.ts` for the shipped files',
  ],
  [
    'a balancer cuts streams that have heartbeats, after a fixed time',
    'the probe ends after the first heartbeat',
    'clients reconnect, and miss nothing',
  ],
  [
    'Redis loses acknowledged writes in a failover, or without power',
    'a setting of its disk and of its replicas',
    '[what is not promised](operations.md#what-is-not-promised)',
  ],
  [
    'a provider takes commands away, such as `CLIENT NO-TOUCH`, or keyspace events',
    'Parley uses neither, so that nothing stops working',
    '[managed services](operations.md#managed-services)',
  ],
  [
    'keys of one user in two slots of a Cluster',
    'all keys of a user have one hash tag, so that it cannot happen',
    '[redis.md](redis.md)',
  ],
  [
    'a worker has another BullMQ than the pods',
    'BullMQ is part of each build, so that it differs only where builds do',
    '`mixed_builds`, `version_differs`',
  ],
  [
    'a secret for webhooks differs from that of the receiver',
    'only the receiver checks signatures',
    '`dead_letters`, with the status of the receiver',
  ],
  [
    'a container is killed for its memory',
    'the pod that answers is another one',
    '`pods_lapsed`; `kubectl describe pod` says OOMKilled',
  ],
];

/** Why a Redis cannot be used, for the table of the docs. The command prints the sentences of the services. */
const REDIS_FAULTS: Readonly<Record<RedisFaultCode, string>> = {
  unknown_host: 'its name has no address',
  refused: 'nothing listens there',
  no_answer: 'it does not answer: a firewall, or it is frozen',
  no_tls: 'TLS is used, and it speaks none',
  tls_expected: 'it expects TLS, or is in protected mode',
  certificate: 'its certificate is not accepted',
  password_missing: 'it asks for a password',
  password_wrong: 'it refuses the user or the password',
  not_permitted: 'its user lacks rights (ACL)',
  not_a_sentinel: 'it is no Sentinel',
  unknown_master: 'the Sentinel does not know the name of the master',
  not_a_cluster: 'it belongs to no Cluster',
  replica: 'it is a replica',
  too_old: 'it is older than Redis 7.0',
  not_ready: 'it loads, is busy, lost its replicas, or slots of its Cluster are missing',
  other: 'it replies with another error',
};

/** docs/cli.md with the faults that `parley doctor` names, and those that it cannot see. */
export function cliPage(page: string): string {
  const [before, rest = ''] = page.split(BEGIN);
  const after = rest.split(END)[1] ?? '';
  return `${before}${BEGIN}\n\n${tables()}\n\n${END}${after}`;
}

function tables(): string {
  const named = Object.entries(FAULTS).map(
    ([code, { fault, seen, key, remedy }]) => `| \`${code}\` | \`${key}\` | ${fault} | ${seen} | ${remedy} |`,
  );
  const ofRedis = Object.entries(REDIS_SETTINGS).map(
    ([code, { fault, seen, remedy }]) => `| \`${code}\` | \`redis\` | Redis ${fault} | ${seen} | ${remedy} |`,
  );
  const reasons = Object.entries(REDIS_FAULTS).map(([code, why]) => `| \`${code}\` | ${why} |`);
  const unseen = UNSEEN.map(([fault, why, where]) => `| ${fault} | ${why} | ${where} |`);
  return [
    '| code | key | fault | seen by | remedy |',
    '|---|---|---|---|---|',
    ...named,
    ...ofRedis,
    '',
    'A Redis that cannot be used has one of these codes, and the sentence that pods and workers log. `/readyz` gives the same code as `reason`.',
    '',
    '| code | why |',
    '|---|---|',
    ...reasons,
    '',
    'The command does not look for these faults, because they cannot be seen from outside or cannot happen:',
    '',
    '| fault | because | where it shows |',
    '|---|---|---|',
    ...unseen,
  ].join('\n');
}
