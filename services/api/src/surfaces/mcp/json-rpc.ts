import { isParleyError } from '@parley/core/domain/errors';
import { isRecord } from '@parley/core/domain/plain-record';
import { z } from 'zod';
import { problemOf } from '../../http/problem.ts';
import { json, type Reply, type RouteCall } from '../../http/route.ts';

/** Error codes of JSON-RPC 2.0 and of MCP. */
export const RPC = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** An error of the transport that has no code of its own. */
  transport: -32000,
  sessionNotFound: -32001,
  /** Only in 2026-07-28: a header differs from the message. */
  headerMismatch: -32020,
  /** Only in 2025-11-25. */
  urlElicitationRequired: -32042,
} as const;

const ID_LENGTH_MAX = 256;

/** The id of a request. Long ids are refused, because event ids contain them. */
export const RequestId = z.union([z.string().max(ID_LENGTH_MAX), z.number()]);
export type RequestId = z.infer<typeof RequestId>;

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** A reply with a JSON-RPC error. `id` is null if the request could not be read. */
export function errorReply(
  status: number,
  error: RpcError,
  id: RequestId | null = null,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  return json(status, errorMessage(error, id), headers);
}

/** Refuses the message in a request. */
export function refusal(call: Pick<RouteCall, 'body'>, status: number, code: number, message: string): Reply {
  return refusalWith(call, status, { code, message });
}

/** As `refusal`, with a complete error. */
export function refusalWith(
  { body }: Pick<RouteCall, 'body'>,
  status: number,
  { code, message, data }: RpcError,
): Reply {
  const id = RequestId.safeParse(isRecord(body) ? body.id : undefined);
  return errorReply(
    status,
    { code, message, ...(data !== undefined && { data }) },
    id.success ? id.data : null,
  );
}

/** True for a message that expects a response. */
export function isRequest(message: unknown): boolean {
  return isRecord(message) && message.method !== undefined && message.id !== undefined;
}

export function isResponse(message: unknown): boolean {
  return isRecord(message) && message.method === undefined && message.id !== undefined;
}

export function errorMessage(error: RpcError, id: RequestId | null) {
  return { jsonrpc: '2.0' as const, id, error };
}

export function resultMessage(id: RequestId, result: unknown) {
  return { jsonrpc: '2.0' as const, id, result };
}

export function notification(method: string, params: Readonly<Record<string, unknown>>) {
  return { jsonrpc: '2.0' as const, method, params };
}

/** A failed call's error in JSON-RPC. `data.code` is Parley's own code. */
export function rpcErrorOf(error: unknown): RpcError {
  const { body } = problemOf(error);
  const code = isParleyError(error) && error.code === 'invalid_request' ? RPC.invalidParams : RPC.internal;
  const { code: reason, errors } = body;
  return {
    code,
    message: String(body.detail),
    data: {
      code: reason,
      ...(errors !== undefined && { errors }),
      ...(isParleyError(error) &&
        error.retryAfterSeconds !== undefined && { retryAfterSeconds: error.retryAfterSeconds }),
    },
  };
}
