/**
 * The types of everything that an MCP server can return. Converting replies is in `content.ts`, errors are converted in
 * `failure.ts`.
 */

import type { CallToolResult } from '@modelcontextprotocol/client';
import type { LogLevel } from '@parley/shared/domain/runs/turn-events';
import type { Visibility } from './visibility.ts';

/** Whether a call reached the server. `no`: certainly not. `maybe`: it may have, and may have had its effect. */
export type Dispatched = 'no' | 'maybe';

/** Why there is no result. Messages are sentences for people and models and contain none of the secrets that were sent. */
export type McpFailure =
  | McpUnauthorized
  /** The server could not be reached, or the connection ended before the reply. */
  | { readonly type: 'unavailable'; readonly message: string; readonly dispatched: Dispatched }
  | { readonly type: 'timeout'; readonly dispatched: Dispatched }
  /** The server refused the call or sent an invalid reply. A retry will not help. */
  | { readonly type: 'refused'; readonly message: string; readonly refusal?: ServerRefusal }
  /** The server made a task of the call, and no longer knows the task. The message says which task. */
  | { readonly type: 'lost'; readonly message: string }
  /** The server wants to ask the person, and the question cannot be asked. */
  | { readonly type: 'input_required'; readonly message: string; readonly refusal?: ServerRefusal };

/** The error with which a server refused a request, as it sent it. */
export interface ServerRefusal {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** HTTP 401, or 403 with `insufficient_scope`: the server did not execute the call and requires another credential. */
export interface McpUnauthorized {
  readonly type: 'unauthorized';
  readonly status: 401 | 403;
  readonly wwwAuthenticate?: string;
  /** RFC 9728. The server chooses this URL, so it must be fetched with SSRF protection. */
  readonly resourceMetadataUrl?: string;
  /** The scopes that the server requires. */
  readonly scope?: string;
  /** Present if the server accepted the same credential earlier in the same call, so the credential is no longer valid. */
  readonly wasAccepted?: true;
}

/** Content of a tool's result. Binary data is described, not included. */
export type McpContent =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'binary';
      readonly kind: 'image' | 'audio' | 'file';
      readonly mimeType?: string;
      readonly bytes: number;
      readonly uri?: string;
    }
  | {
      readonly type: 'link';
      readonly uri: string;
      readonly name: string;
      readonly mimeType?: string;
      readonly description?: string;
    };

export interface McpToolResult {
  readonly type: 'result';
  readonly content: readonly McpContent[];
  readonly structuredContent?: unknown;
  /** The tool ran and failed, or its result was too large. */
  readonly isError: boolean;
  /** The result as the server sent it, with secrets removed; only for calls that ask for it. */
  readonly whole?: CallToolResult;
}

/** The server needs answers before it executes the call (2026-07-28). The call is then repeated with them. */
export interface McpRound {
  readonly type: 'round';
  /** The server's questions by its own keys, unchecked. Empty: the call is repeated after a pause. */
  readonly requests: Readonly<Record<string, unknown>>;
  /** The server's state, to be sent back unchanged and unread. */
  readonly state?: string;
}

/**
 * The handle of a task that the server made of the call (2026-07-28). It is never shown, because its id may be all that a
 * server requires for access.
 */
export interface McpTaskHandle {
  readonly type: 'task';
  readonly taskId: string;
  /** False if the server says that the task already waits or has ended. */
  readonly isWorking: boolean;
  readonly pollMs?: number | undefined;
}

export type McpCallResult = McpToolResult | McpRound | McpFailure;

/** A server's reply to a call: its result, or a handle from which the result comes later. */
export type McpCallReply = McpCallResult | McpTaskHandle;

/**
 * A tool's own annotations, with the specification's defaults (the most cautious values) for missing ones. Rely on them
 * only for trusted servers.
 */
export interface McpToolHints {
  readonly readOnlyHint: boolean;
  /** Meaningful only when the tool is not read-only. */
  readonly destructiveHint: boolean;
  /** A second call with the same arguments has no further effect. Meaningful only when the tool is not read-only. */
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

export const TASK_SUPPORTS = ['forbidden', 'optional', 'required'] as const;
export type TaskSupport = (typeof TASK_SUPPORTS)[number];

export interface McpTool {
  /** The server's own name for it. */
  readonly name: string;
  /**
   * The name for models: the server's id and the tool's name, at most 64 characters of `[A-Za-z0-9_-]`, the same on every pod.
   */
  readonly modelName: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema?: Readonly<Record<string, unknown>>;
  readonly hints: McpToolHints;
  readonly visibility: Visibility;
  /** Whether calls may or must be tasks, as the server declares in revision 2025-11-25. */
  readonly taskSupport?: TaskSupport;
  /** The tool's `_meta`, for MCP clients of Parley. Models never read it. */
  readonly meta?: Readonly<Record<string, unknown>>;
}

export type DropReason =
  | 'too_many'
  | 'bad_name'
  | 'same_name'
  | 'bad_schema'
  | 'schema_too_large'
  | 'schema_too_deep';

export interface McpOffer {
  readonly type: 'tools';
  readonly tools: readonly McpTool[];
  /** Tools that the server offered but that are not used. */
  readonly dropped: readonly { readonly name: string; readonly reason: DropReason }[];
}

export type McpToolList = McpOffer | McpFailure;

/** A server's reply to a read request. `absent`: the server does not have the feature. */
export type McpReadResult =
  | { readonly type: 'read'; readonly result: Readonly<Record<string, unknown>> }
  | { readonly type: 'absent' }
  | McpFailure;

/** A log message of the server about one call. */
export interface McpLogMessage {
  readonly level: LogLevel;
  readonly logger?: string | undefined;
  readonly data: unknown;
}

export interface McpProgress {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}
