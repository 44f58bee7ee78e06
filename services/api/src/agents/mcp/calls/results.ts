/** Whether a call may have reached the server: `no` is certain, `maybe` is not, so it may have had its effect. */
export type Left = 'no' | 'maybe';

/** Why there is no result. Messages are sentences for people and models; none carries a secret that was sent. */
export type McpFailure =
  | McpUnauthorized
  /** Not to be reached, or gone before it answered. */
  | { readonly type: 'unavailable'; readonly message: string; readonly left: Left }
  | { readonly type: 'timeout'; readonly left: Left }
  /** The server said no, or nothing that makes sense; repeating it will not help. */
  | { readonly type: 'refused'; readonly message: string; readonly code?: number }
  /** The server wants to ask the person, which this client did not offer. */
  | { readonly type: 'input_required'; readonly message: string };

/** HTTP 401, or 403 with `insufficient_scope`: the server did nothing, and wants another credential. */
export interface McpUnauthorized {
  readonly type: 'unauthorized';
  readonly status: 401 | 403;
  readonly wwwAuthenticate?: string;
  /** RFC 9728; chosen by the server, so fetch it only with a guard against SSRF. */
  readonly resourceMetadataUrl?: string;
  /** The scopes that the server asks for. */
  readonly scope?: string;
}

/** What a tool gave back; what is not text is named, never carried. */
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
  /** The tool ran and failed, or its result was too large to hand on. */
  readonly isError: boolean;
}

export type McpCallResult = McpToolResult | McpFailure;

/**
 * What a tool says of itself, with the specification's defaults for what it leaves out (the worst). Hints: only
 * those of a server that is trusted may decide anything.
 */
export interface McpToolHints {
  readonly readOnlyHint: boolean;
  /** Means something only when not read-only. */
  readonly destructiveHint: boolean;
  /** A second call with the same arguments does nothing more; means something only when not read-only. */
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

export interface McpTool {
  /** As the server calls it. */
  readonly name: string;
  /** As models may call it: `[A-Za-z0-9_-]`, at most 64, the same on every pod, with the server's id in front. */
  readonly modelName: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly hints: McpToolHints;
}

export type DropReason = 'too_many' | 'bad_name' | 'same_name' | 'bad_schema' | 'schema_too_large';

export interface McpOffer {
  readonly type: 'tools';
  readonly tools: readonly McpTool[];
  /** What the server offered and is left out. */
  readonly dropped: readonly { readonly name: string; readonly reason: DropReason }[];
}

export type McpToolList = McpOffer | McpFailure;

export interface McpProgress {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}
