/** Limits of the MCP client and of the servers. Sizes are in UTF-8 bytes unless the name says otherwise. */
export interface McpLimits {
  /** Connections kept at once. Above it, the least recently used one without calls under way is closed. */
  readonly connectionsMax: number;
  /** How long a connection without calls stays open. */
  readonly idleMs: number;
  /** To connect to a server and complete the handshake. */
  readonly connectTimeoutMs: number;
  /** For a call, including the time to open a connection. A call may set its own. */
  readonly callTimeoutMs: number;
  /** How long a list of tools is cached. */
  readonly toolsTtlMs: number;
  readonly toolsMax: number;
  /** In characters. Longer descriptions are truncated. */
  readonly descriptionMax: number;
  /** A tool with a larger input schema is dropped. */
  readonly schemaBytesMax: number;
  /** Text and structured content of a result together, as JSON. */
  readonly resultBytesMax: number;
  /** Of one message on the wire, where text is escaped and images are base64. */
  readonly messageBytesMax: number;
  /** How often a server is informed that its question has not been answered yet. */
  readonly progressMs: number;
  /** Of one round of questions (2026-07-28), as JSON. A run keeps it until the round is over. */
  readonly roundBytesMax: number;
  /** How long a child process may take to exit by itself, and again after SIGTERM. */
  readonly killGraceMs: number;
  /** Pause before a child process that crashed is started again. It doubles with each crash. */
  readonly restartMinMs: number;
  readonly restartMaxMs: number;
  /** A child process that ran for this long starts with the shortest pause again. */
  readonly stableMs: number;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const MEGABYTE = 1_000_000;

export const DEFAULT_MCP_LIMITS: McpLimits = {
  connectionsMax: 200,
  idleMs: 5 * MINUTE,
  connectTimeoutMs: 20 * SECOND,
  callTimeoutMs: MINUTE,
  toolsTtlMs: 5 * MINUTE,
  toolsMax: 128,
  descriptionMax: 4_096,
  schemaBytesMax: 64_000,
  resultBytesMax: MEGABYTE,
  messageBytesMax: 8 * MEGABYTE,
  progressMs: 15 * SECOND,
  roundBytesMax: 64_000,
  killGraceMs: 2 * SECOND,
  restartMinMs: 250,
  restartMaxMs: 15 * SECOND,
  stableMs: MINUTE,
};
