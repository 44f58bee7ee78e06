/** Registers the prompts and resources that MCP clients may read. Finding them is in `agents/tools/mcp-content.ts`. */

import {
  ProtocolError,
  ResourceNotFoundError,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { Caller } from '@parley/shared/domain/caller';
import { principalOf } from '../../turns/principal.ts';
import type { Turns } from '../../turns/turns.ts';
import { CARD_URI, cardContents } from './card.ts';
import type { CallCard } from './deps.ts';
import { RPC } from './json-rpc.ts';
import { pageOf } from './page.ts';

type ReadableContent = Turns['content'];
type ServerOptions = NonNullable<ConstructorParameters<typeof Server>[1]>;

/** The capabilities of a server that offers these prompts and resources. The card is read as a resource. */
export function contentCapabilities(
  { offers }: ReadableContent,
  card: CallCard | undefined,
): NonNullable<ServerOptions['capabilities']> {
  return {
    ...(offers.prompts && { prompts: {} }),
    ...(card !== undefined && { resources: {} }),
    ...(offers.resources && { resources: { subscribe: true } }),
    ...((offers.prompts || offers.resources) && { completions: {} }),
  };
}

export type RequestedRead = Parameters<ReadableContent['read']>[1];
type RequestedReader = Parameters<ReadableContent['read']>[0];
type AskableClient = ReturnType<Turns['askableBy']>;

/** Replies to a read during which the server asks, or that continues such a read. */
export type ReplyToAsking = (request: RequestedRead, context: ServerContext) => Promise<unknown>;

/** How a read is handled if its server asks: the client's capabilities, and the reply. */
interface AskingReads {
  readonly viewerOf: (context: ServerContext) => RequestedReader['viewer'];
  /** How the client can be asked. */
  readonly askableOf: (context: ServerContext) => AskableClient;
  readonly reply: ReplyToAsking;
  /** The card that this client may read; no list contains it. */
  readonly card: CallCard | undefined;
}

interface ContentReading {
  readonly caller: Caller;
  readonly guarded: Guarded;
  readonly asking: AskingReads;
}

/** Registers the offered prompts and resources of servers. The SDK checks the form of their requests. */
export function registerContent(
  server: Server,
  content: ReadableContent,
  { caller, guarded, asking }: ContentReading,
): void {
  const { prompts, resources } = content.offers;
  const principal = principalOf(caller);
  const reading = (context: ServerContext) => ({
    caller,
    principal,
    signal: context.mcpReq.signal,
    viewer: asking.viewerOf(context),
  });
  const read = (request: RequestedRead, context: ServerContext, notFound: () => Error) =>
    guarded(context.mcpReq.signal, async () => {
      const isContinued = context.mcpReq.requestState() !== undefined;
      if (isContinued) return (await asking.reply(request, context)) as never;
      const reader = { ...reading(context), askable: asking.askableOf(context) };
      const reply = await content.read(reader, request);
      if (reply === undefined) throw notFound();
      return (reply.type === 'read' ? reply.result : await asking.reply(request, context)) as never;
    });
  if (prompts) {
    server.setRequestHandler('prompts/list', ({ params }, context) =>
      guarded(context.mcpReq.signal, async () => {
        const { items, ...rest } = pageOf(await content.listPrompts(reading(context)), params?.cursor);
        return { prompts: items as never[], ...rest };
      }),
    );
    server.setRequestHandler('prompts/get', ({ params: { name, arguments: args } }, context) => {
      const request = {
        method: 'prompts/get',
        name,
        ...(args !== undefined && { arguments: args }),
      } as const;
      return read(request, context, () => missing('prompt'));
    });
  }
  if (resources || asking.card !== undefined) {
    server.setRequestHandler('resources/list', ({ params }, context) =>
      guarded(context.mcpReq.signal, async () => {
        const { items, ...rest } = pageOf(await content.listResources(reading(context)), params?.cursor);
        return { resources: items as never[], ...rest };
      }),
    );
    server.setRequestHandler('resources/templates/list', ({ params }, context) =>
      guarded(context.mcpReq.signal, async () => {
        const { items, ...rest } = pageOf(await content.listTemplates(reading(context)), params?.cursor);
        return { resourceTemplates: items as never[], ...rest };
      }),
    );
    server.setRequestHandler('resources/read', ({ params: { uri } }, context) => {
      if (uri === CARD_URI && asking.card !== undefined) return cardContents(asking.card.html);
      return read({ method: 'resources/read', uri }, context, () => new ResourceNotFoundError(uri));
    });
  }
  if (prompts || resources)
    server.setRequestHandler('completion/complete', ({ params }, context) =>
      guarded(context.mcpReq.signal, async () => {
        const { ref, argument, context: filled } = params;
        const rest = { argument, ...(filled !== undefined && { context: filled }) };
        const result = await content.complete(reading(context), ref, rest);
        if (result === undefined) throw missing('prompt or resource');
        return result as never;
      }),
    );
}

/** Runs a handler, and converts its errors to errors of the protocol. */
export type Guarded = <T>(signal: AbortSignal, run: () => Promise<T>) => Promise<T>;

function missing(what: string): ProtocolError {
  return new ProtocolError(RPC.invalidParams, `There is no such ${what}.`);
}

/** The reason for refusing one subscription too many. */
export function tooManySubscriptions(max: number): string {
  return `At most ${max} resources can be subscribed to at once; unsubscribe from one.`;
}
