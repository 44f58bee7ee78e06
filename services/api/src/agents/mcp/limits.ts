/** Limits of the MCP client and of the servers. Sizes are in UTF-8 bytes unless the name says otherwise. */
export interface McpLimits {
  /** How many connections are kept. Beyond that, the least recently used connection without calls is closed. */
  readonly connectionsMax: number;
  /** How long a connection without calls stays open. */
  readonly idleMs: number;
  /** Time to connect to a server and complete the handshake. */
  readonly connectTimeoutMs: number;
  /** Time for a call, including the time to open a connection. A call may set its own limit. */
  readonly callTimeoutMs: number;
  /** How long a list of tools is cached. */
  readonly toolsTtlMs: number;
  readonly toolsMax: number;
  /** The maximum length of a description, in characters. Longer ones are truncated. */
  readonly descriptionMax: number;
  /** The maximum size of a tool's input schema. Tools with a larger one are dropped. */
  readonly schemaBytesMax: number;
  /** The maximum size of a result: its text and structured content together, as JSON. */
  readonly resultBytesMax: number;
  /** The maximum size of one message on the wire, where text is escaped and images are base64. */
  readonly messageBytesMax: number;
  /** How often a server is told that its question is not answered yet. */
  readonly progressMs: number;
  /** The maximum size of one round of questions (2026-07-28), as JSON. A run stores it until the round is over. */
  readonly roundBytesMax: number;
  /** How long a child process may take to exit after its input ends, and again after SIGTERM. */
  readonly killGraceMs: number;
  /** Pause before a child process that crashed is started again. It doubles with each crash. */
  readonly restartMinMs: number;
  readonly restartMaxMs: number;
  /** After a child process has run for this long, its next restart uses the shortest pause again. */
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
