import { ProtocolError, ResourceNotFoundError, type Server } from '@modelcontextprotocol/server';
import type { Caller } from '@parley/shared/elicitations/caller';
import { principalOf } from '../../turns/principal.ts';
import type { Turns } from '../../turns/turns.ts';
import { RPC } from './json-rpc.ts';
import { pageOf } from './page.ts';

type ReadableContent = Turns['content'];
type ServerOptions = NonNullable<ConstructorParameters<typeof Server>[1]>;

/** The capabilities of a server with the prompts and resources that are offered. */
export function contentCapabilities({ offers }: ReadableContent): NonNullable<ServerOptions['capabilities']> {
  return {
    ...(offers.prompts && { prompts: {} }),
    ...(offers.resources && { resources: {} }),
    ...((offers.prompts || offers.resources) && { completions: {} }),
  };
}

/** Registers the prompts and resources of servers that are offered. Their forms are checked by the SDK. */
export function registerContent(
  server: Server,
  content: ReadableContent,
  caller: Caller,
  guarded: Guarded,
): void {
  const { prompts, resources } = content.offers;
  const principal = principalOf(caller);
  const reading = (signal: AbortSignal) => ({ caller, principal, signal });
  if (prompts) {
    server.setRequestHandler('prompts/list', ({ params }, { mcpReq: { signal } }) =>
      guarded(signal, async () => {
        const { items, ...rest } = pageOf(await content.listPrompts(reading(signal)), params?.cursor);
        return { prompts: items as never[], ...rest };
      }),
    );
    server.setRequestHandler('prompts/get', ({ params: { name, arguments: args } }, { mcpReq: { signal } }) =>
      guarded(signal, async () => found(await content.getPrompt(reading(signal), name, args), 'prompt')),
    );
  }
  if (resources) {
    server.setRequestHandler('resources/list', ({ params }, { mcpReq: { signal } }) =>
      guarded(signal, async () => {
        const { items, ...rest } = pageOf(await content.listResources(reading(signal)), params?.cursor);
        return { resources: items as never[], ...rest };
      }),
    );
    server.setRequestHandler('resources/templates/list', ({ params }, { mcpReq: { signal } }) =>
      guarded(signal, async () => {
        const { items, ...rest } = pageOf(await content.listTemplates(reading(signal)), params?.cursor);
        return { resourceTemplates: items as never[], ...rest };
      }),
    );
    server.setRequestHandler('resources/read', ({ params: { uri } }, { mcpReq: { signal } }) =>
      guarded(signal, async () => {
        const result = await content.readResource(reading(signal), uri);
        if (result === undefined) throw new ResourceNotFoundError(uri);
        return result as never;
      }),
    );
  }
  if (prompts || resources)
    server.setRequestHandler('completion/complete', ({ params }, { mcpReq: { signal } }) =>
      guarded(signal, async () => {
        const { ref, argument, context } = params;
        const rest = { argument, ...(context !== undefined && { context }) };
        return found(await content.complete(reading(signal), ref, rest), 'prompt or resource');
      }),
    );
}

/** Runs a handler; its errors become errors of the protocol. */
export type Guarded = <T>(signal: AbortSignal, run: () => Promise<T>) => Promise<T>;

function found(result: unknown, what: string): never {
  if (result === undefined) throw new ProtocolError(RPC.invalidParams, `There is no such ${what}.`);
  return result as never;
}
