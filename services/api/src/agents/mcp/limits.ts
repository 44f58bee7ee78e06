/** What this layer allows itself and the servers; sizes in UTF-8 bytes unless a name says otherwise. */
export interface McpLimits {
  /** Connections kept at once; beyond, the longest unused one goes. Those with calls under way are never cut. */
  readonly connectionsMax: number;
  /** How long a connection without calls stays open. */
  readonly idleMs: number;
  /** To reach a server and shake hands. */
  readonly connectTimeoutMs: number;
  /** For a call, the connection it may have to open included; a call may set its own. */
  readonly callTimeoutMs: number;
  /** How long a list of tools is used without asking again. */
  readonly toolsTtlMs: number;
  readonly toolsMax: number;
  /** In characters; longer ones are cut. */
  readonly descriptionMax: number;
  /** A tool with a larger input schema is left out. */
  readonly schemaBytesMax: number;
  /** Text and structured content of a result together, as JSON. */
  readonly resultBytesMax: number;
  /** One message on the wire, where text is escaped and pictures are base64. */
  readonly messageBytesMax: number;
  /** How long a child has to end by itself, and again after SIGTERM. */
  readonly killGraceMs: number;
  /** Pause before a child that died is started again; doubles with each death. */
  readonly restartMinMs: number;
  readonly restartMaxMs: number;
  /** A child that lived this long starts anew without a debt. */
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
  killGraceMs: 2 * SECOND,
  restartMinMs: 250,
  restartMaxMs: 15 * SECOND,
  stableMs: MINUTE,
};
