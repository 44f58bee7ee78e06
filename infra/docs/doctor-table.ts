import { FAULTS } from '../../clients/cli/src/doctor/faults.ts';
import { REDIS_FAULTS, REDIS_SETTINGS } from '../../clients/cli/src/doctor/redis-faults.ts';
import { UNSEEN } from '../../clients/cli/src/doctor/unseen.ts';

const BEGIN = '<!-- faults: npm run docs -->';
const END = '<!-- end of faults -->';

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
    'These faults cannot be seen from outside:',
    '',
    '| fault | because | where it shows |',
    '|---|---|---|',
    ...unseen,
  ].join('\n');
}
