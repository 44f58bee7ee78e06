import { expect, it } from 'vitest';
import { docsRoutes } from '../../../services/api/src/http/docs/routes.ts';
import type { Reply, Route } from '../../../services/api/src/http/route.ts';
import { accountRoutes } from '../../../services/api/src/surfaces/accounts/routes.ts';
import { aiSdkRoutes } from '../../../services/api/src/surfaces/ai-sdk/routes.ts';
import { openAiRoutes } from '../../../services/api/src/surfaces/openai/routes.ts';
import { restRoutes } from '../../../services/api/src/surfaces/rest/routes.ts';

// Routes use what they are given only when they are called.
const UNUSED = {} as never;
const routes = [
  restRoutes(UNUSED),
  aiSdkRoutes({ engine: UNUSED, limits: UNUSED, turns: {} as never, eraseConversation: UNUSED }),
  openAiRoutes(UNUSED),
  accountRoutes(UNUSED),
].flatMap((surface) => surface.routes);
const documented = routes.flatMap((one) => (one.docs === undefined ? [] : [{ ...one, docs: one.docs }]));

async function read(path: string): Promise<Reply> {
  const found = docsRoutes(routes, '1.2.3').routes.find((one: Route) => one.path === path);
  if (found === undefined) throw new Error(`no route ${path}`);
  return found.handle(UNUSED);
}

/** Fails for keys that the schema does not have, too. */
function expectFits(schema: { parse(value: unknown): unknown }, value: unknown): void {
  expect(schema.parse(value)).toEqual(value);
}

it.each(documented.map((one) => [`${one.method} ${one.path}`, one] as const))(
  'the example of %s fits its schemas',
  (_call, { body, query, docs: { example, replies } }) => {
    if (body?.as === 'json' && !(body.optional && example.body === undefined)) {
      expect(body.schema.safeParse(example.body).error?.issues ?? []).toEqual([]);
    } else expect(example.body).toBeUndefined();
    if (query !== undefined)
      expect(query.safeParse(Object.fromEntries(new URLSearchParams(example.query))).success).toBe(true);
    const [reply] = Object.values(replies);
    if (reply?.schema !== undefined) expectFits(reply.schema, example.reply);
    else expect(String(example.reply)).toMatch(/^(id: .*\n)?(event: .*\n)?data: /);
  },
);

it('the page lists every call once in its group, with a request and a reply', async () => {
  const page = await read('/docs');
  if (page.type !== 'text') throw new Error('no page');
  const { body } = page;
  expect(body.match(/<h3>/g)).toHaveLength(documented.length);
  expect(body.match(/<h4>Request<\/h4>/g)).toHaveLength(documented.length);
  const groups = [...body.matchAll(/<h2 id="group-(\w+)">/g)].map(([, group]) => group);
  expect(groups).toEqual([
    ...['questions', 'approvals', 'streams', 'webhooks', 'users', 'workflows', 'chats', 'accounts'],
  ]);
  expect(body).toContain('curl -X POST &quot;$PARLEY/v1/elicitations&quot;');
  expect(body).not.toMatch(
    /:(id|conversationId|streamRequestId|deliveryId|toolId|grantId|workflowId|position)\b/,
  );
});

it('OpenAPI has the groups as tags, and the examples', async () => {
  const api = await read('/openapi.json');
  if (api.type !== 'json') throw new Error('no description');
  expect(api.body).toMatchObject({
    paths: {
      '/v1/elicitations': {
        post: {
          tags: ['Questions'],
          requestBody: { content: { 'application/json': { example: { userId: 'alice' } } } },
          responses: { 201: { content: { 'application/json': { example: { status: 'pending' } } } } },
        },
      },
    },
  });
});
