import { FAULTS } from '../../clients/cli/src/doctor/faults.ts';
import type { RedisFaultCode } from '../../shared/src/ports/redis-diagnosis.ts';

const BEGIN = '<!-- faults: npm run docs -->';
const END = '<!-- end of faults -->';

/** Why a Redis cannot be used, for the table in the docs. The command itself prints the services' sentences. */
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

/** docs/cli.md with the faults that `parley doctor` reports, from the command's own list. */
export function cliPage(page: string): string {
  const [before, rest = ''] = page.split(BEGIN);
  const after = rest.split(END)[1] ?? '';
  return `${before}${BEGIN}\n\n${tables()}\n\n${END}${after}`;
}

function tables(): string {
  const named = Object.entries(FAULTS).map(
    ([code, { fault, seen, key, remedy }]) => `| \`${code}\` | \`${key}\` | ${fault} | ${seen} | ${remedy} |`,
  );
  const reasons = Object.entries(REDIS_FAULTS).map(([code, why]) => `| \`${code}\` | ${why} |`);
  return [
    '| code | key | fault | seen by | remedy |',
    '|---|---|---|---|---|',
    ...named,
    '',
    'A Redis that cannot be used has one of these codes, and the sentence that pods and workers log. `/readyz` gives the same code as `reason`.',
    '',
    '| code | why |',
    '|---|---|',
    ...reasons,
  ].join('\n');
}
