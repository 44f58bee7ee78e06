/** The revisions of MCP that differ in how a server asks. The older one also stands for the revisions before it. */
export type McpRevision = '2025-11-25' | '2026-07-28';

/** An MCP server with every value resolved, including its secrets. It must never be logged. */
export interface McpServerConfig {
  /** Unique among the servers. Connections, logs and tools use it as their name. */
  readonly id: string;
  /** Name shown to people. */
  readonly title: string;
  readonly transport: McpHttpTransport | McpStdioTransport;
  /** The only revision that may be used. Absent: the revision in which the server can ask. */
  readonly revision?: McpRevision | undefined;
  /** Present if Parley declares to the server that its pages are shown (MCP Apps). */
  readonly showsPages?: true | undefined;
}

/** Streamable HTTP. */
export interface McpHttpTransport {
  readonly type: 'http';
  /** The endpoint. Redirects to another origin are not followed. */
  readonly url: string;
  /** Headers of every request, such as a project's credential. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A program on this machine. Each credential key gets a process of its own. */
export interface McpStdioTransport {
  readonly type: 'stdio';
  /** An absolute path, or a name to look up in the `PATH` of `env`. */
  readonly command: string;
  readonly args?: readonly string[];
  /** The complete environment of the process. Nothing is inherited, not even `PATH`. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Whose credential a connection carries. */
export interface McpCredential {
  /** Opaque and different for each user. It separates connections and tool lists. */
  readonly key: string;
  /** Headers that carry it. They override the server's own. Unused on stdio. */
  readonly headers: Readonly<Record<string, string>>;
  /** The key (JWK) that proves possession of the token in each request (DPoP). Unused on stdio. */
  readonly proofKey?: string;
}
