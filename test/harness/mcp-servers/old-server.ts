import { Server as OldServer } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  ElicitResultSchema,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
  UrlElicitationRequiredError,
} from '@modelcontextprotocol/sdk/types.js';
import type { Legacy } from './asking.ts';
import type { Fixture, FixtureContent } from './tools.ts';

export const INFO = { name: 'fixture', version: '1.0.0' };

/** What a fixture has. */
export const capabilitiesOf = ({ content }: Fixture) => ({
  tools: { listChanged: true },
  logging: {},
  ...(content !== undefined && { prompts: {}, resources: { subscribe: true } }),
});
export const namesOf = ({ prompts, resources }: FixtureContent) => ({
  prompts: prompts.map((name) => ({ name })),
  resources: resources.map((uri) => ({ uri, name: uri })),
});

/** A server of the v1 SDK, for one session or for one stdio connection. */
export function oldServer(fixture: Fixture): OldServer {
  const server = new OldServer(INFO, { capabilities: capabilitiesOf(fixture) });
  if (fixture.content !== undefined) serveContent(server, fixture.content);
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => fixture.list(params?.cursor) as never);
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const authorization = extra.requestInfo?.headers.authorization;
    const progress = (done: number, total: number) =>
      extra.sendNotification({
        method: 'notifications/progress',
        params: { progressToken: extra._meta?.progressToken ?? '', progress: done, total },
      });
    const log = (data: string) =>
      extra.sendNotification({ method: 'notifications/message', params: { level: 'info', data } });
    return (await fixture.call(params.name, params.arguments ?? {}, {
      legacy: legacyOf(server, extra),
      authorization: Array.isArray(authorization) ? authorization[0] : authorization,
      progress,
      log,
    })) as never;
  });
  return server;
}

type OldExtra = Parameters<Parameters<typeof OldServer.prototype.setRequestHandler>[1]>[1];

function legacyOf(server: OldServer, extra: OldExtra): Legacy {
  const elicit = (asked: Record<string, unknown>) =>
    ({ method: 'elicitation/create', params: asked }) as never;
  return {
    ask: (asked, { patient, ...options } = {}) =>
      extra.sendRequest(elicit(asked), ElicitResultSchema, {
        timeout: 60_000,
        ...options,
        ...(patient === true && { onprogress: () => undefined, resetTimeoutOnProgress: true }),
      }),
    askApart: (asked) => server.request(elicit(asked), ElicitResultSchema, { timeout: 60_000 }),
    requirePages: (pages) => new UrlElicitationRequiredError(pages as never),
    complete: (id) => server.createElicitationCompletionNotifier(id)(),
    capabilities: () => server.getClientCapabilities(),
  };
}

/** The prompts and resources of an old server, with the changes of resources that its client subscribed to. */
function serveContent(server: OldServer, content: FixtureContent): void {
  const { prompts, resources } = namesOf(content);
  server.setRequestHandler(ListPromptsRequestSchema, () => ({ prompts }));
  server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources }));
  server.setRequestHandler(
    GetPromptRequestSchema,
    async ({ params }, extra) =>
      (await content.read('prompts/get', params, { legacy: legacyOf(server, extra) })) as never,
  );
  server.setRequestHandler(
    ReadResourceRequestSchema,
    async ({ params }, extra) =>
      (await content.read('resources/read', params, { legacy: legacyOf(server, extra) })) as never,
  );
  server.setRequestHandler(SubscribeRequestSchema, ({ params }) => {
    if (!content.resources.includes(params.uri)) throw new Error('There is no such resource.');
    watchedBy(server).add(params.uri);
    return {};
  });
  server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => {
    watchedBy(server).delete(params.uri);
    return {};
  });
}

const watched = new WeakMap<object, Set<string>>();

/** The resources that the client of a session subscribed to. */
export function watchedBy(server: object): Set<string> {
  const uris = watched.get(server) ?? new Set();
  watched.set(server, uris);
  return uris;
}
