/** The two bindings of A2A: JSON-RPC and HTTP+JSON. What the operations do is in `handler.ts`. */

import type { ServerCallContext } from '@a2a-js/sdk/server';
import { isParleyError } from '@parley/core/domain/errors';
import { json, type Reply, type RouteCall } from '../../http/route.ts';
import type { Frame } from '../../http/sse.ts';
import { jsonLine } from '../../turns/plain.ts';
import { REST_TYPE, restProblem, rpcProblem } from './errors.ts';
import type { CallHandler } from './handler.ts';
import type { RestRequest } from './operations.ts';
import type { Sdk } from './sdk.ts';
import { LEGACY, versionOf } from './version.ts';

interface BindingCall {
  readonly sdk: Sdk;
  readonly handler: CallHandler;
  readonly call: RouteCall;
  readonly onFault: (error: unknown) => void;
}

type Handled = Awaited<ReturnType<InstanceType<Sdk['server']['JsonRpcTransportHandler']>['handle']>>;
type Events = Extract<Handled, AsyncGenerator<unknown>>;
type Single = Exclude<Handled, Events>;
type HeaderValues = Readonly<Record<string, string>>;

/** The parts in which the two bindings differ. */
interface A2aBinding {
  readonly protocol: 'JSONRPC' | 'HTTP+JSON';
  /** The extensions that the client knows, and the header that names the ones in use. */
  readonly extensions: string | undefined;
  readonly extensionsHeader: string;
  handle(context: ServerCallContext): Promise<Handled>;
  reply(single: Single, headers: HeaderValues): Reply;
  eventOf(event: Single): unknown;
  /** The reply for an error that has a name in A2A. */
  refuse(error: unknown): Reply;
  /** The reply for an error without a name in A2A. */
  problem(error: unknown): Reply;
}

/** Serves one JSON-RPC request of A2A 1.0, or of 0.3 if the version is 0.3 or absent. */
export function serveJsonRpc(parts: BindingCall): Promise<Reply> {
  const { sdk, handler, call } = parts;
  const isLegacy = versionOf(call.head) === LEGACY;
  const { LegacyJsonRpcTransportHandler } = sdk.compat;
  const transport = isLegacy
    ? new LegacyJsonRpcTransportHandler(handler)
    : new sdk.server.JsonRpcTransportHandler(handler);
  const errorOf = isLegacy
    ? LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError
    : sdk.errors.toJsonRpcError;
  const legacyExtensions = isLegacy ? call.header('x-a2a-extensions') : undefined;
  const body = call.body as Record<string, unknown>;
  const id = idOf(body);
  return serve(parts, {
    protocol: 'JSONRPC',
    extensions: legacyExtensions ?? call.header('a2a-extensions'),
    extensionsHeader: isLegacy ? 'x-a2a-extensions' : 'a2a-extensions',
    handle: async (context) => (await transport.handle(body, context)) as Handled,
    reply: (single, headers) => json(200, single, headers),
    eventOf: (event) => event,
    refuse: (error) => json(200, { jsonrpc: '2.0', id, error: errorOf(error) }),
    problem: (error) => rpcProblem(error, id),
  });
}

/**
 * Serves one HTTP+JSON request of A2A 1.0. Its bodies are those of the JSON-RPC methods, so the JSON-RPC binding serves it;
 * only errors differ.
 */
export function serveRest(parts: BindingCall, { method, params, status }: RestRequest): Promise<Reply> {
  const { sdk, handler, call } = parts;
  const transport = new sdk.server.JsonRpcTransportHandler(handler);
  const refuse = (error: unknown) => {
    const code = sdk.errors.restStatusFor(error);
    return json(code, sdk.errors.toRestErrorBody(error, code), { 'content-type': REST_TYPE });
  };
  return serve(parts, {
    protocol: 'HTTP+JSON',
    extensions: call.header('a2a-extensions'),
    extensionsHeader: 'a2a-extensions',
    handle: (context) => transport.handle({ jsonrpc: '2.0', id: 1, method, params }, context),
    reply({ error, result }, headers) {
      if (error !== undefined) return refuse(handler.error ?? new sdk.errors.RequestMalformedError());
      if (status === 204) return { type: 'empty', status, headers };
      return json(status ?? 200, result, { ...headers, 'content-type': REST_TYPE });
    },
    eventOf: ({ result }) => result,
    refuse,
    problem: restProblem,
  });
}

/** Serves a request. An error that is not a ParleyError is reported, and its reply reveals nothing. */
async function serve({ sdk, handler, call, onFault }: BindingCall, binding: A2aBinding): Promise<Reply> {
  const version = versionOf(call.head);
  const context = contextOf(sdk, version, binding.extensions);
  try {
    sdk.server.validateVersion(version, await handler.getAgentCard(), binding.protocol);
  } catch (error) {
    return binding.refuse(error);
  }
  const handled = await binding.handle(context);
  const { activatedExtensions } = context;
  const headers: HeaderValues =
    activatedExtensions === undefined ? {} : { [binding.extensionsHeader]: activatedExtensions.join(', ') };
  const failure = () => {
    const { error } = handler;
    if (error === undefined || error instanceof sdk.errors.A2AError) return undefined;
    if (!isParleyError(error) || error.code === 'internal') onFault(error);
    return binding.problem(error);
  };
  if (!isStream(handled)) return failure() ?? binding.reply(handled, headers);
  try {
    return await eventsOf(handled, binding.eventOf, headers);
  } catch (error) {
    return failure() ?? binding.refuse(error);
  }
}

function contextOf(
  { core, server }: Sdk,
  version: string,
  extensions: string | undefined,
): ServerCallContext {
  const requestedExtensions = core.Extensions.parseServiceParameter(extensions);
  return new server.ServerCallContext({ requestedVersion: version, requestedExtensions });
}

function isStream(handled: Handled): handled is Events {
  return Symbol.asyncIterator in handled;
}

function idOf(body: unknown): unknown {
  const id = typeof body === 'object' && body !== null && 'id' in body ? body.id : null;
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

/** A stream as server-sent events. It waits for the first event, so that an earlier error gets a reply of its own. */
async function eventsOf<Item>(
  items: AsyncGenerator<Item, unknown>,
  resultOf: (item: Item) => unknown,
  headers: HeaderValues,
): Promise<Reply> {
  const first = await items.next();
  return { type: 'events', events: frames(first, items, resultOf), headers, onExpiry: () => [] };
}

async function* frames<Item>(
  first: IteratorResult<Item, unknown>,
  rest: AsyncGenerator<Item, unknown>,
  resultOf: (item: Item) => unknown,
): AsyncGenerator<Frame, void> {
  try {
    if (first.done === true) return;
    yield { text: jsonLine(resultOf(first.value)) };
    for await (const item of rest) yield { text: jsonLine(resultOf(item)) };
  } finally {
    void rest.return?.(undefined);
  }
}
