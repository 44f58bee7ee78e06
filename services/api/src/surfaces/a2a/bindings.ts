import type { ServerCallContext } from '@a2a-js/sdk/server';
import { json, type Reply, type RouteCall } from '../../http/route.ts';
import type { Frame } from '../../http/sse.ts';
import { jsonLine } from '../../turns/plain.ts';
import { isByStatus, REST_TYPE, restProblem, rpcProblem } from './errors.ts';
import type { CallHandler } from './handler.ts';
import type { RestOperation } from './rest.ts';
import type { Sdk } from './sdk.ts';
import { LEGACY, versionOf } from './version.ts';

interface BindingCall {
  readonly sdk: Sdk;
  readonly handler: CallHandler;
  readonly call: RouteCall;
  readonly onFault: (error: unknown) => void;
}

type Handled = Awaited<ReturnType<InstanceType<Sdk['server']['JsonRpcTransportHandler']>['handle']>>;
type Single = Exclude<Handled, AsyncGenerator<unknown>>;

/** One JSON-RPC request of A2A 1.0, or of 0.3 where the version is 0.3 or absent. */
export async function serveJsonRpc({ sdk, handler, call, onFault }: BindingCall): Promise<Reply> {
  const version = versionOf(call.head);
  const isLegacy = version === LEGACY;
  const extensionHeader = isLegacy
    ? (call.header('x-a2a-extensions') ?? call.header('a2a-extensions'))
    : call.header('a2a-extensions');
  const context = contextOf(sdk, version, extensionHeader);
  const body = call.body as Record<string, unknown>;
  const id = idOf(body);
  try {
    sdk.server.validateVersion(version, await handler.getAgentCard(), 'JSONRPC');
  } catch (error) {
    return json(200, { jsonrpc: '2.0', id, error: sdk.errors.toJsonRpcError(error) });
  }
  const transport = isLegacy
    ? new sdk.compat.LegacyJsonRpcTransportHandler(handler)
    : new sdk.server.JsonRpcTransportHandler(handler);
  const handled = (await transport.handle(body, context)) as Handled;
  const headers = activatedHeaders(context, isLegacy ? 'x-a2a-extensions' : 'a2a-extensions');
  const problem = () => problemOf(handler, onFault, (error) => rpcProblem(error, id));
  if (!isStream(handled)) return problem() ?? json(200, handled, headers);
  try {
    return await eventsOf(handled, (one) => one, headers);
  } catch (error) {
    const refused = isLegacy
      ? sdk.compat.LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError(error)
      : sdk.errors.toJsonRpcError(error);
    return problem() ?? json(200, { jsonrpc: '2.0', id, error: refused });
  }
}

/**
 * One HTTP+JSON request of A2A 1.0. Its bodies are those of the JSON-RPC methods, so the method's binding serves it; only
 * errors differ.
 */
export async function serveRest(
  { sdk, handler, call, onFault }: BindingCall,
  { method, params, status }: RestOperation,
): Promise<Reply> {
  const version = versionOf(call.head);
  const context = contextOf(sdk, version, call.header('a2a-extensions'));
  const refuse = (error: unknown) => {
    const code = sdk.errors.restStatusFor(error);
    return json(code, sdk.errors.toRestErrorBody(error, code), { 'content-type': REST_TYPE });
  };
  try {
    sdk.server.validateVersion(version, await handler.getAgentCard(), 'HTTP+JSON');
  } catch (error) {
    return refuse(error);
  }
  const transport = new sdk.server.JsonRpcTransportHandler(handler);
  const handled = await transport.handle({ jsonrpc: '2.0', id: 1, method, params }, context);
  const headers = activatedHeaders(context, 'a2a-extensions');
  const problem = () => problemOf(handler, onFault, restProblem);
  if (isStream(handled)) {
    try {
      return await eventsOf(handled, ({ result }) => result, headers);
    } catch (error) {
      return problem() ?? refuse(error);
    }
  }
  const { error, result } = handled as Single;
  if (error !== undefined)
    return problem() ?? refuse(handler.error ?? new sdk.errors.RequestMalformedError());
  return status === 204
    ? { type: 'empty', status, headers }
    : json(status ?? 200, result, { ...headers, 'content-type': REST_TYPE });
}

function contextOf(
  { core, server }: Sdk,
  version: string,
  extensions: string | undefined,
): ServerCallContext {
  const requestedExtensions = core.Extensions.parseServiceParameter(extensions);
  return new server.ServerCallContext({ requestedVersion: version, requestedExtensions });
}

function activatedHeaders({ activatedExtensions }: ServerCallContext, name: string): Record<string, string> {
  return activatedExtensions === undefined ? {} : { [name]: activatedExtensions.join(', ') };
}

/** The reply to an error that A2A has no name for. An error that is no ParleyError is reported, and reveals nothing. */
function problemOf(
  { fault }: CallHandler,
  onFault: (error: unknown) => void,
  replyOf: (error: unknown) => Reply,
): Reply | undefined {
  if (fault === undefined) return undefined;
  if (!isByStatus(fault)) onFault(fault);
  return replyOf(fault);
}

function isStream(handled: Handled): handled is Extract<Handled, AsyncGenerator<unknown>> {
  return Symbol.asyncIterator in handled;
}

function idOf(body: unknown): unknown {
  const id = typeof body === 'object' && body !== null && 'id' in body ? body.id : null;
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

/** A stream as server-sent events, once its first event is there: an error before it is a reply of its own. */
async function eventsOf<Item>(
  items: AsyncGenerator<Item, unknown>,
  resultOf: (item: Item) => unknown,
  headers: Readonly<Record<string, string>>,
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
