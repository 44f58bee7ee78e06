/** The routes with which chats show servers' pages and make their calls. What pages may do is decided in `turns/pages`. */

import type { Engine } from '@parley/shared/elicitations/engine';
import { z } from 'zod';
import { userOf } from '../../http/reply.ts';
import { bearer, json, jsonBody, type Route, type RouteCall, route } from '../../http/route.ts';
import { readTurnHeaders } from '../../http/turn-headers.ts';
import { type ChatPages, createChatPages, type ViewCallState } from '../../turns/pages/pages.ts';
import type { Turns } from '../../turns/turns.ts';
import { PAGE_CALL_EXAMPLE, PAGE_EXAMPLE } from './examples.ts';

const WAIT_MS = 20_000;
const Loose = z.looseObject({});

const Page = z
  .object({
    html: z.string(),
    csp: z
      .object({
        connectDomains: z.array(z.string()),
        resourceDomains: z.array(z.string()),
        frameDomains: z.array(z.string()),
        baseUriDomains: z.array(z.string()),
      })
      .describe('The origins from which the page may load. What is no origin is left out.'),
    permissions: z.array(z.enum(['camera', 'microphone', 'geolocation', 'clipboardWrite'])),
    prefersBorder: z.boolean().optional(),
  })
  .meta({ id: 'ToolPage' });

const ShownCall = z
  .object({
    page: Page,
    tool: z.string().describe("The server's own name for the tool."),
    input: z.unknown().describe('The arguments, as the chat shows them.'),
    result: z.unknown().describe('The result of the tool as its server sent it (`CallToolResult`).'),
  })
  .meta({ id: 'ToolPageCall' });

const CallBody = z.object({
  name: z.string().min(1).max(128).describe('A tool of the same server, by its own name.'),
  arguments: z.record(z.string(), z.unknown()).default({}),
});

const CallEnded = z
  .object({
    callId: z.string(),
    result: Loose.describe('`CallToolResult`; with `isError` where the call failed.'),
  })
  .meta({ id: 'PageCallEnded' });

const CallWaits = z
  .object({
    callId: z.string(),
    waits: z
      .array(z.object({ type: z.enum(['approval', 'question']), data: Loose }))
      .describe('What the call has asked its person so far, as the parts of chats have it.'),
  })
  .meta({ id: 'PageCallWaits' });

const REPLIES = {
  200: { description: 'The call has ended', schema: CallEnded },
  202: { description: 'The call goes on. Read it again', schema: CallWaits },
};

const Seen = z.object({
  seen: z.coerce
    .number()
    .int()
    .min(0)
    .default(0)
    .describe(
      'How many waits are known. The reply comes with the next one, at the end of the call, or after 20 seconds.',
    ),
});

const BASE = '/run/api/chat/:conversationId/pages/:pageId';

/** The routes for MCP servers' pages that show agents' calls in chats, and for the calls that these pages make. */
export function pageRoutes(deps: {
  readonly engine: Pick<Engine, 'replay' | 'watchLive'>;
  readonly turns: Turns;
}): Route[] {
  const pages = createChatPages({ ...deps, waitMs: WAIT_MS });
  return [readRoute(pages), callRoute(pages), followRoute(pages)];
}

function readRoute(pages: ChatPages): Route {
  return route({
    method: 'GET',
    path: BASE,
    proof: bearer('user'),
    docs: {
      group: 'Chats',
      summary: 'Read the page of a tool, and the call that it shows',
      example: { reply: PAGE_EXAMPLE },
      description:
        'A part `data-tool-page` of a chat names the page. Show it in a sandbox of another origin only (docs/chat-transport.md).',
      replies: { 200: { description: 'The page', schema: ShownCall } },
      errors: ['not_found'],
    },
    async handle({ caller, params: { pageId = '' }, signal, admitted }) {
      await admitted;
      return json(200, await pages.read({ person: userOf(caller), pageId, signal }));
    },
  });
}

function callRoute(pages: ChatPages): Route {
  return route({
    method: 'POST',
    path: `${BASE}/calls`,
    proof: bearer('user', 'chat'),
    body: jsonBody(CallBody),
    docs: {
      group: 'Chats',
      summary: 'Call a tool for a page',
      example: { body: { name: 'refund', arguments: { order: 7 } }, reply: PAGE_CALL_EXAMPLE },
      description:
        'Only tools of the same server that are for pages. Approvals and accounts are asked for as in calls of the agent. The call goes on without a reader.',
      replies: REPLIES,
      errors: ['not_found'],
    },
    async handle(call) {
      const { params, body, signal, admitted } = call;
      const ref = { person: userOf(call.caller), pageId: params.pageId ?? '', signal };
      await admitted;
      const { support } = readTurnHeaders(call, true);
      const callId = await pages.begin(ref, { ...body, support });
      return stateReply(callId, await pages.follow(ref, callId, 0));
    },
  });
}

function followRoute(pages: ChatPages): Route {
  return route({
    method: 'GET',
    path: `${BASE}/calls/:callId`,
    proof: bearer('user'),
    query: Seen,
    docs: {
      group: 'Chats',
      summary: 'Read how far a call of a page has come',
      example: { query: '?seen=1', reply: PAGE_CALL_EXAMPLE },
      replies: REPLIES,
      errors: ['not_found'],
    },
    async handle({ caller, params: { pageId = '', callId = '' }, query, signal, admitted }) {
      await admitted;
      const ref = { person: userOf(caller), pageId, signal };
      return stateReply(callId, await pages.follow(ref, callId, query.seen));
    },
  });
}

function stateReply(callId: string, state: ViewCallState) {
  if (state.type === 'waiting') return json(202, { callId, waits: state.waits });
  if (state.type === 'result') return json(200, { callId, result: state.result });
  return json(200, {
    callId,
    result: { content: [{ type: 'text', text: state.message }], isError: true },
  });
}

/** Reads the headers of a chat. Of the surfaces with agents, only chats show servers' pages. */
export function readChatHeaders(call: Pick<RouteCall, 'caller' | 'header'>, streams: boolean) {
  const { support, ...headers } = readTurnHeaders(call, streams);
  const showsPages = streams && call.header('x-supports-pages')?.trim() === 'true';
  return { ...headers, support: showsPages ? { ...support, pages: true as const } : support };
}
