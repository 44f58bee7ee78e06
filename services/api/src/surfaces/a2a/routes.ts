/** The routes of the A2A surface, and their documentation. The protocol is in `bindings.ts` and `handler.ts`. */

import { ParleyError } from '@parley/core/domain/errors';
import { z } from 'zod';
import {
  ANYBODY,
  bearerFor,
  json,
  jsonBody,
  type Reply,
  type RequestHead,
  type Route,
  type RouteCall,
  type RouteDocs,
  route,
  type Surface,
} from '../../http/route.ts';
import { USER_HEADER } from '../../turns/principal.ts';
import { serveJsonRpc, serveRest } from './bindings.ts';
import { A2A_PATH, CARD_PATH, originOf } from './card.ts';
import { KEYS_PATH, publicKeysOf } from './card-signature.ts';
import { createCards } from './cards.ts';
import type { A2aDeps, OfferedAgent } from './deps.ts';
import { restProblem, rpcProblem } from './errors.ts';
import { CARD_EXAMPLE, RPC_EXAMPLE, SEND_EXAMPLE, TASK_EXAMPLE } from './examples.ts';
import { createCallHandler } from './handler.ts';
import { REST_CALLS, type RestCall, restRequestOf, SEND_PATH, TASK_PATH } from './operations.ts';
import { createSdkLoader } from './sdk.ts';

const HEADERS = {
  'A2A-Version': 'The version that the client speaks, also as a parameter of the query; 0.3 when absent.',
  'A2A-Extensions': 'The extensions that the client knows, comma separated.',
  'Parley-User': 'With a service key: the person for whom it speaks, percent-encoded.',
};
const AGENT_PATH = `${A2A_PATH}/:agent`;
const ERRORS = ['not_found', 'forbidden'];
const QUERY = z.record(z.string(), z.union([z.string(), z.array(z.string())]));

/** The HTTP+JSON calls in the documented API. A2A's specification describes the others. */
const REST_DOCS: Readonly<
  Record<string, Pick<RouteDocs, 'summary' | 'description' | 'example' | 'replies'>>
> = {
  [`POST ${SEND_PATH}`]: {
    summary: 'Send a message to an agent (HTTP+JSON)',
    description: '`message:send` or `message:stream`. Errors are `google.rpc.Status`. See docs/a2a.md.',
    example: SEND_EXAMPLE,
    replies: { 200: { description: 'A task, or server-sent events' } },
  },
  [`GET ${TASK_PATH}`]: {
    summary: 'Get a task (HTTP+JSON)',
    description: 'With `:subscribe` after the id: its updates as server-sent events.',
    example: TASK_EXAMPLE,
    replies: { 200: { description: 'The task' } },
  },
};
const CARD_SECONDS = 300;

/** Parley's agents for other agents: A2A 1.0 over JSON-RPC and HTTP+JSON, and 0.3 over JSON-RPC. */
export function a2aRoutes(deps: A2aDeps): Surface {
  const loadSdk = createSdkLoader();
  const agents = new Map(deps.agents.map((agent) => [agent.id, agent]));
  // A service key names the person for whom it speaks, so it can act as anybody. The scope for that is never a default.
  const proof = bearerFor(deps.authenticate, 'user', 'act');

  function agentOf({ agent: id = '' }: Readonly<Record<string, string>>): OfferedAgent {
    const agent = agents.get(id);
    if (agent === undefined) throw new ParleyError('not_found', 'No such agent is offered.');
    return agent;
  }

  async function partsOf(call: RouteCall) {
    const agent = agentOf(call.params);
    const sdk = await loadSdk();
    const handler = createCallHandler({ sdk, deps, agent, origin: originOf(deps, call.head), call });
    return { sdk, handler, call, onFault: deps.onFault };
  }

  /** Errors of HTTP+JSON are `google.rpc.Status`. */
  const restRoute = (one: RestCall): Route => {
    const { http: method, path } = one;
    const docs = REST_DOCS[`${method} ${path}`];
    const isSend = path === SEND_PATH;
    return route({
      method,
      path: `${AGENT_PATH}${path}`,
      proof,
      limits: 'own',
      refuse: (error) => restProblem(error),
      ...(docs !== undefined && { docs: { group: 'A2A', headers: HEADERS, errors: ERRORS, ...docs } }),
      ...(method === 'GET'
        ? { query: QUERY }
        : { body: jsonBody(z.unknown(), isSend ? { bytesMax: 'messages' } : { optional: true }) }),
      async handle(call: RouteCall) {
        const request = restRequestOf(one, call);
        if (request === undefined) throw new ParleyError('not_found', 'A2A has no such call.');
        return serveRest(await partsOf(call), request);
      },
    });
  };

  return {
    routes: [
      ...cardRoutes(deps, { loadSdk, agentOf }),
      route({
        method: 'POST',
        path: AGENT_PATH,
        proof,
        limits: 'own',
        body: jsonBody(z.unknown(), { bytesMax: 'messages' }),
        refuse: (error) => rpcProblem(error),
        docs: {
          group: 'A2A',
          summary: 'Call an agent by the Agent2Agent protocol (JSON-RPC)',
          description:
            'A2A 1.0, and 0.3 for clients that name no version. Errors are JSON-RPC errors. See docs/a2a.md.',
          headers: HEADERS,
          example: RPC_EXAMPLE,
          replies: { 200: { description: 'A JSON-RPC message, or server-sent events' } },
          errors: ERRORS,
        },
        handle: async (call: RouteCall) => serveJsonRpc(await partsOf(call)),
      }),
      ...REST_CALLS.map(restRoute),
    ],
    browserHeaders: {
      request: ['a2a-version', 'a2a-extensions', 'x-a2a-extensions', USER_HEADER],
      response: ['a2a-extensions', 'x-a2a-extensions', 'www-authenticate'],
    },
  };
}

interface CardParts {
  readonly loadSdk: ReturnType<typeof createSdkLoader>;
  readonly agentOf: (params: Readonly<Record<string, string>>) => OfferedAgent;
}

/** The cards, which anybody may read, and the keys with which they are signed. */
function cardRoutes(deps: A2aDeps, { loadSdk, agentOf }: CardParts): Route[] {
  const cards = createCards(deps, loadSdk);
  async function cardReply(agent: OfferedAgent, head: RequestHead): Promise<Reply> {
    const { body, etag } = await cards.read(agent, head);
    const headers = { 'cache-control': `public, max-age=${CARD_SECONDS}`, vary: 'A2A-Version, Host', etag };
    return head.headers['if-none-match'] === etag
      ? { type: 'empty', status: 304, headers }
      : json(200, body, headers);
  }

  const docs = (summary: string) => ({
    group: 'A2A' as const,
    summary,
    headers: {
      'A2A-Version': 'The version of the card that is read; when absent, one that serves clients of both.',
    },
    example: CARD_EXAMPLE,
    replies: { 200: { description: 'The card', schema: z.looseObject({ name: z.string() }) } },
  });
  const [first] = deps.agents;
  return [
    route({
      method: 'GET',
      path: CARD_PATH,
      proof: ANYBODY,
      docs: docs('The A2A card of the first agent'),
      handle: async ({ head }) => cardReply(first ?? agentOf({}), head),
    }),
    route({
      method: 'GET',
      path: `${AGENT_PATH}${CARD_PATH}`,
      proof: ANYBODY,
      docs: docs('The A2A card of an agent'),
      handle: async ({ head, params }) => cardReply(agentOf(params), head),
    }),
    route({
      method: 'GET',
      path: KEYS_PATH,
      proof: ANYBODY,
      handle: async () => json(200, deps.signer === undefined ? { keys: [] } : publicKeysOf(deps.signer)),
    }),
  ];
}
