import { z } from 'zod';
import { AgentsFile } from '../../services/api/src/agents/config/file.ts';

/** The members of z.toJSONSchema's result that the page needs. */
interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly const?: string;
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly oneOf?: readonly Schema[];
  readonly additionalProperties?: Schema | false;
}

/** docs/agents.md with the current example and the reference, which is generated from the schemas. */
export function agentsPage(page: string, example: string): string {
  return filled(
    filled(page, 'example', `\`\`\`yaml\n${example.trimEnd()}\n\`\`\``),
    'reference',
    reference(),
  );
}

function filled(page: string, name: string, text: string): string {
  const [begin, end] = [`<!-- ${name}: written by npm run docs -->\n`, `<!-- end of ${name} -->`];
  const from = page.indexOf(begin) + begin.length;
  const to = page.indexOf(end);
  if (from < begin.length || to < from) throw new Error(`docs/agents.md has no markers for the ${name}`);
  return `${page.slice(0, from)}${text}\n${page.slice(to)}`;
}

function reference(): string {
  const file = z.toJSONSchema(AgentsFile, { io: 'input', unrepresentable: 'any' }) as Schema;
  const sections = Object.entries(file.properties ?? {}).flatMap(([name, { additionalProperties }]) =>
    additionalProperties ? sectionOf(name, additionalProperties) : [],
  );
  return ['### The file', '', ...tableOf(file), ...sections].join('\n').trimEnd();
}

function sectionOf(name: string, entry: Schema): string[] {
  const heading = [`### An entry of \`${name}\``, ''];
  if (entry.oneOf === undefined) return [...heading, ...tableOf(entry)];
  return [...heading, ...entry.oneOf.flatMap((variant) => variantOf(variant))];
}

/** One variant of an entry. Its heading is the key that selects it. */
function variantOf(variant: Schema): string[] {
  const [key, { const: only, enum: several } = {}] =
    Object.entries(variant.properties ?? {}).find(([name]) => SELECTORS.has(name)) ?? [];
  const values = (several ?? [only]).map((value) => `\`${key}: ${value}\``).join(' or ');
  return [`**${values}** — ${variant.description ?? ''}`, '', ...tableOf(variant)];
}
const SELECTORS = new Set(['provider', 'transport', 'type']);

function tableOf(schema: Schema): string[] {
  return ['| key | meaning |', '|---|---|', ...rowsOf(schema, ''), ''];
}

function rowsOf({ properties = {}, required = [] }: Schema, prefix: string): string[] {
  return Object.entries(properties)
    .filter(([name]) => !SELECTORS.has(name))
    .flatMap(([name, schema]) => {
      const isList = schema.items?.properties !== undefined;
      const inner = schema.properties === undefined ? schema.items : schema;
      const row = `| \`${prefix}${name}\` | ${sentencesOf(schema, required.includes(name))} |`;
      return [row, ...rowsOf(inner ?? {}, `${prefix}${name}${isList ? '[]' : ''}.`)];
    });
}

function sentencesOf(schema: Schema, isRequired: boolean): string {
  const { description = '', default: fallback, enum: choices } = schema;
  const isStated = fallback === undefined || typeof fallback === 'object' || description.includes('Default');
  return [
    ...(isRequired ? ['**Required.**'] : []),
    description,
    ...(choices === undefined || choices.every((choice) => description.includes(`\`${choice}\``))
      ? []
      : [`One of ${choices.map((choice) => `\`${choice}\``).join(', ')}.`]),
    ...(isStated ? [] : [`Default \`${String(fallback)}\`.`]),
  ].join(' ');
}
