import { FILE_VARIABLES, Variables } from '@parley/shared/config/variables';
import { z } from 'zod';

/** docs/configuration.md, written from the one schema of all variables. */
export function configurationPage(): string {
  const { properties = {} } = z.toJSONSchema(Variables, { io: 'input', unrepresentable: 'any' }) as {
    properties?: Record<string, { description?: string; default?: unknown; enum?: string[] }>;
  };
  const lines = Object.entries(properties).map(
    ([name, { description = '', default: fallback, enum: choices }]) => {
      const values =
        choices === undefined ? '' : ` One of ${choices.map((choice) => `\`${choice}\``).join(', ')}.`;
      const stated = fallback === undefined || fallback === '' || description.includes('Default');
      return `| \`${name}\` | ${description}${values}${stated ? '' : ` Default \`${fallback}\`.`} |`;
    },
  );
  return [
    '# Configuration',
    '',
    'Every environment variable, written from the schema that checks them (`npm run docs`). A wrong one stops the start with all',
    'faults listed; an empty one counts as unset.',
    '',
    `A secret may be in a file: \`<NAME>_FILE\` is its path, for ${FILE_VARIABLES.map((name) => `\`${name}\``).join(', ')}.`,
    '',
    '| variable | what it does |',
    '|---|---|',
    ...lines,
    '',
  ].join('\n');
}
