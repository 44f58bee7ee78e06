/**
 * Generates the console's types of the admin API from the schemas of its routes, so that the two cannot differ. The routes are
 * only read, never called.
 */

import { z } from 'zod';
import type { Route } from '../../services/api/src/http/route.ts';
import { answerLinkRoutes } from '../../services/api/src/pages/answer/link-routes.ts';
import type { AdminDeps } from '../../services/api/src/surfaces/admin/deps.ts';
import { adminRoutes } from '../../services/api/src/surfaces/admin/routes.ts';
import { userRoutes } from '../../services/api/src/surfaces/rest/users.ts';

/** Types of the wire that the console shares with the services, and their files. */
const SHARED: Readonly<Record<string, string>> = {
  Elicitation: '@parley/core/domain/elicitations/elicitation',
  Approval: '@parley/core/domain/approvals/approval',
  AnswerLink: '@parley/core',
};

interface Schema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
}

/** The replies to operators as TypeScript types for the console, generated from the schemas in the routes' documentation. */
export function consoleTypes(): string {
  const named = new Map<string, string>();
  const calls = routesOfOperators()
    .flatMap((route) => repliesOf(route, named))
    .map(([call, type]) => `  readonly '${call}': ${type};`);
  const imports = Object.entries(SHARED)
    .filter(([name]) => named.has(name))
    .map(([name, from]) => `import type { ${name} } from '${from}';`);
  const types = [...named]
    .filter(([name]) => !(name in SHARED))
    .map(([name, type]) => `export type ${name} = ${type};\n`);
  return [
    '// biome-ignore-all format: written by `npm run docs` from the schemas of the routes for operators.',
    ...imports.sort((a, b) => (a.split(' from ')[1] ?? '').localeCompare(b.split(' from ')[1] ?? '')),
    '',
    ...types,
    '/** What each call of an operator replies. */',
    'export interface AdminReplies {',
    ...calls,
    '}',
    '',
  ].join('\n');
}

/** The routes that admit operators of the console. They are only read, never called. */
function routesOfOperators(): Route[] {
  const { routes } = adminRoutes({} as AdminDeps);
  const links = answerLinkRoutes({} as Parameters<typeof answerLinkRoutes>[0]);
  const users = userRoutes(async () => {
    throw new Error('The routes are read and never called.');
  });
  return [...routes, ...links.routes, ...users].filter(({ proof }) => proof.by === 'operator');
}

function repliesOf({ method, path, docs }: Route, named: Map<string, string>): [string, string][] {
  const schema = docs?.replies[200]?.schema ?? docs?.replies[201]?.schema;
  if (schema === undefined) return [];
  const { $defs = {}, ...reply } = z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' }) as Schema;
  for (const [name, of] of Object.entries($defs)) named.set(name, name in SHARED ? '' : typeOf(of));
  const id = schema.meta()?.id;
  if (id !== undefined && reply.$ref === undefined) {
    named.set(id, id in SHARED ? '' : typeOf(reply));
    return [[`${method} ${path}`, id]];
  }
  return [[`${method} ${path}`, typeOf(reply)]];
}

/** A schema as a TypeScript type, on one line. */
function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1) ?? 'unknown';
  if (schema.const !== undefined) return JSON.stringify(schema.const).replaceAll('"', "'");
  if (schema.enum !== undefined) return schema.enum.map((one) => `'${one}'`).join(' | ');
  const either = schema.anyOf ?? schema.oneOf;
  if (either !== undefined) return either.map(typeOf).join(' | ');
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type;
    case 'number':
    case 'integer':
      return 'number';
    case 'array':
      return `readonly (${schema.items === undefined ? 'unknown' : typeOf(schema.items)})[]`;
    case 'object':
      return objectOf(schema);
    default:
      return 'unknown';
  }
}

function objectOf({ properties, required = [], additionalProperties }: Schema): string {
  if (properties === undefined) {
    const value = typeof additionalProperties === 'object' ? typeOf(additionalProperties) : 'unknown';
    return `Readonly<Record<string, ${value}>>`;
  }
  const members = Object.entries(properties).map(
    ([name, of]) =>
      `readonly ${/^\w+$/.test(name) ? name : `'${name}'`}${required.includes(name) ? '' : '?'}: ${typeOf(of)}`,
  );
  return `{ ${members.join('; ')} }`;
}
