/** Describes the routes as OpenAPI from the schemas that check the calls. The HTML page is in `docs-page.ts`. */

import { WebhookEvent } from '@parley/shared/domain/webhooks/webhook';
import { z } from 'zod';
import { STATUS_OF } from '../problem.ts';
import type { Route, RouteDocs } from '../route.ts';

export type OpenApi = Readonly<Record<string, unknown>> & {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
};

const EVERY_ROUTE_ERRORS = ['unauthenticated', 'forbidden', 'rate_limited', 'unavailable'];

const Problem = z
  .object({
    type: z.url(),
    title: z.string(),
    status: z.int(),
    code: z.enum(Object.keys(STATUS_OF)),
    detail: z.string(),
    errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
    elicitation: z.unknown().optional(),
  })
  .meta({ id: 'Problem', description: 'RFC 9457 problem details.' });

/** Describes the routes as OpenAPI 3.1, generated from the schemas that check the calls. */
export function openApiOf(routes: readonly Route[], version: string): OpenApi {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    if (route.docs === undefined) continue;
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, route.docs) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Parley',
      version,
      description:
        'Ask a person from an agent on one pod, take the answer on any pod, settle it exactly once.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    paths,
    webhooks: { 'elicitation-ended': { post: webhookOperation() } },
    components: {
      schemas: buildComponents(),
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
    },
    security: [{ bearer: [] }],
  };
}

/** The webhook call, which Parley makes instead of receiving. */
function webhookOperation(): Record<string, unknown> {
  return {
    summary: 'An elicitation that was asked with a webhookUrl has ended',
    description:
      'Signed as Standard Webhooks says, and sent until it is answered with 2xx; see docs/webhooks.md.',
    security: [],
    parameters: ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => ({
      name,
      in: 'header',
      required: true,
      schema: { type: 'string' },
    })),
    requestBody: { required: true, content: { 'application/json': { schema: referenceTo(WebhookEvent) } } },
    responses: { '2XX': { description: 'Taken' }, 410: { description: 'Send no more of it' } },
  };
}

function operationOf(route: Route, docs: RouteDocs): Record<string, unknown> {
  const errors = [...new Set([...EVERY_ROUTE_ERRORS, ...inputErrors(route), ...(docs.errors ?? [])])];
  return {
    tags: [docs.group],
    summary: docs.summary,
    description: [docs.description, audience(route)].filter(Boolean).join(' '),
    parameters: [...pathParameters(route), ...queryParameters(route), ...headerParameters(docs)],
    ...(route.body?.as === 'json' && {
      requestBody: {
        required: !route.body.optional,
        content: {
          'application/json': {
            schema: referenceTo(route.body.schema),
            ...(docs.example.body !== undefined && { example: docs.example.body }),
          },
        },
      },
    }),
    responses: { ...successes(docs), ...problems(errors) },
  };
}

function audience({ proof }: Route): string | undefined {
  if (proof.by === 'operator')
    return `For service keys with the scope \`${proof.scope}\` or operators who signed in to the console.`;
  if (proof.by !== 'bearer') return undefined;
  const callers = proof.callers.map((caller) =>
    caller === 'user' ? 'users' : `service keys with the scope \`${caller}\``,
  );
  return `For ${callers.join(' or ')}.`;
}

function inputErrors(route: Route): string[] {
  const errors = ['invalid_request'];
  if (route.body !== undefined) errors.push('too_large');
  if (route.path.includes(':')) errors.push('not_found');
  const { proof } = route;
  if (route.method === 'GET' && proof.by === 'bearer' && proof.callers.includes('user'))
    errors.push('read_quota');
  return errors;
}

function pathParameters(route: Route) {
  return [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function queryParameters(route: Route) {
  if (route.query === undefined) return [];
  const { properties = {}, required = [] } = jsonSchemaOf(route.query) as {
    properties?: Record<string, { description?: string }>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...(description !== undefined && { description }),
    schema,
  }));
}

function headerParameters(docs: RouteDocs) {
  return Object.entries(docs.headers ?? {}).map(([name, description]) => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string' },
  }));
}

function successes(docs: RouteDocs): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(docs.replies).map(([status, { description, schema, events }]) => {
      if (events === true) return [status, eventsReply(description, docs)];
      if (schema === undefined) return [status, { description }];
      const example = docs.example.reply;
      return [
        status,
        { description, content: { 'application/json': { schema: referenceTo(schema), example } } },
      ];
    }),
  );
}

function eventsReply(description: string, { example }: RouteDocs): Record<string, unknown> {
  return {
    description,
    content: { 'text/event-stream': { schema: { type: 'string' }, example: example.reply } },
  };
}

/** Several codes can share a status. Their names are in its description. */
function problems(codes: readonly string[]): Record<string, unknown> {
  const byStatus = new Map<number, string[]>();
  for (const code of codes) byStatus.set(statusOf(code), [...(byStatus.get(statusOf(code)) ?? []), code]);
  return Object.fromEntries(
    [...byStatus].map(([status, names]) => [
      status,
      {
        description: names.join(', '),
        content: { 'application/problem+json': { schema: referenceTo(Problem) } },
      },
    ]),
  );
}

function statusOf(code: string): number {
  return STATUS_OF[code as keyof typeof STATUS_OF];
}

function referenceTo(schema: z.ZodType): Record<string, unknown> {
  const id = schema.meta()?.id;
  return id === undefined ? jsonSchemaOf(schema) : { $ref: componentPath(id) };
}

function jsonSchemaOf(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _schema, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return rest;
}

function buildComponents(): Record<string, unknown> {
  const { schemas } = z.toJSONSchema(z.globalRegistry, {
    io: 'input',
    unrepresentable: 'any',
    uri: componentPath,
  });
  return Object.fromEntries(
    Object.entries(schemas).map(([id, { $schema: _schema, $id: _id, ...schema }]) => [id, schema]),
  );
}

function componentPath(id: string): string {
  return `#/components/schemas/${id}`;
}
