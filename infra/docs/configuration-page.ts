import { FILE_VARIABLES, Variables } from '@parley/shared/config/variables';
import { z } from 'zod';

/** The groups of the page, and the prefixes of their variables. A variable belongs to the first group that matches. */
const GROUPS: readonly (readonly [title: string, beginnings: readonly string[]])[] = [
  ['Process', ['NODE_ENV', 'PORT', 'PARLEY_HOST', 'PARLEY_POD']],
  ['Redis', ['REDIS_URL', 'PARLEY_REDIS_', 'PARLEY_TIMER_QUEUES']],
  ['Callers', ['PARLEY_JWT_', 'PARLEY_API_KEYS', 'PARLEY_CORS_ORIGINS']],
  ['Agents', ['PARLEY_CONFIG', 'PARLEY_DELEGATES', 'PARLEY_OPENAI_STEPS', 'PARLEY_HOLD_SECONDS']],
  [
    'Hosted pages and accounts',
    [
      ...['PARLEY_PUBLIC_URL', 'PARLEY_CONNECT_', 'PARLEY_VAULT_', 'PARLEY_APPROVAL_LINKS'],
      ...['PARLEY_TITLE', 'PARLEY_LOGO_URL'],
    ],
  ],
  ['Console', ['PARLEY_CONSOLE']],
  ['Slack', ['PARLEY_SLACK_']],
  ['Webhooks', ['PARLEY_WEBHOOK_SECRETS', 'PARLEY_DEAD_LETTER_SECONDS']],
  ['MCP', ['PARLEY_MCP_']],
  ['A2A', ['PARLEY_A2A_']],
  ['Logs, metrics and traces', ['OTEL_', 'PARLEY_METRICS_', 'PARLEY_LOG_']],
  ['Limits', ['PARLEY_LIMIT_', 'PARLEY_REFUSAL_DELAY_MS']],
  ['Times', ['PARLEY_']],
];

/** docs/configuration.md, generated from the schema of all variables. */
export function configurationPage(): string {
  const { properties = {} } = z.toJSONSchema(Variables, { io: 'input', unrepresentable: 'any' }) as {
    properties?: Readonly<Record<string, Property>>;
  };
  const groupOf = (name: string) =>
    GROUPS.find(([, beginnings]) => beginnings.some((beginning) => name.startsWith(beginning)))?.[0];
  const sections = [...GROUPS.map(([title]) => title), undefined].flatMap((title) => {
    const rows = Object.entries(properties).filter(([name]) => groupOf(name) === title);
    if (rows.length === 0) return [];
    return [
      `## ${title ?? 'Others'}`,
      '',
      '| variable | what it does |',
      '|---|---|',
      ...rows.map(rowOf),
      '',
    ];
  });
  return [
    '# Configuration',
    '',
    'Every environment variable, written from the schema that checks them (`npm run docs`). A wrong one stops the start with all',
    'faults listed; an empty one counts as unset.',
    '',
    `A secret may be in a file: \`<NAME>_FILE\` is its path, for ${FILE_VARIABLES.map((name) => `\`${name}\``).join(', ')}.`,
    '',
    ...sections,
  ].join('\n');
}

interface Property {
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
}

function rowOf([name, { description = '', default: fallback, enum: choices }]: [string, Property]): string {
  const values =
    choices === undefined ? '' : ` One of ${choices.map((choice) => `\`${choice}\``).join(', ')}.`;
  const stated = fallback === undefined || fallback === '' || description.includes('Default');
  return `| \`${name}\` | ${description}${values}${stated ? '' : ` Default \`${fallback}\`.`} |`;
}
