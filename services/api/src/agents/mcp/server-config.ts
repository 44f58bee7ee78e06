/** An MCP server as this layer needs it: every value resolved, secrets included. Never log one. */
export interface McpServerConfig {
  /** Unique among the servers; names connections, logs and tools. */
  readonly id: string;
  /** What people call it. */
  readonly title: string;
  readonly transport: McpHttpTransport | McpStdioTransport;
}

/** Streamable HTTP; both protocol revisions are spoken, the newer one when the server has it. */
export interface McpHttpTransport {
  readonly type: 'http';
  /** The endpoint. No other origin is ever talked to, whatever the server redirects to. */
  readonly url: string;
  /** Headers of every request, such as a project's credential. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A program on this machine; one process per credential key. */
export interface McpStdioTransport {
  readonly type: 'stdio';
  /** An absolute path, or a name that is found on the `PATH` of `env`. */
  readonly command: string;
  readonly args?: readonly string[];
  /** The whole environment of the process: nothing is inherited, not even `PATH`. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Whose credential a connection carries. */
export interface McpCredential {
  /** Opaque; two users never have the same one. Connections and tool lists are kept apart by it. */
  readonly key: string;
  /** Headers that carry it; they win over the server's own. Unused on stdio. */
  readonly headers: Readonly<Record<string, string>>;
}
