/** The messages of A2A 1.0 in JSON (ProtoJSON of `lf.a2a.v1`), limited to the fields that Parley reads or writes. */

const TASK_STATES = [
  'TASK_STATE_SUBMITTED',
  'TASK_STATE_WORKING',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_AUTH_REQUIRED',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
] as const;
export type TaskState = (typeof TASK_STATES)[number];

const TERMINAL: ReadonlySet<string> = new Set<TaskState>([
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
]);

/** True for a terminal state. */
export function isTerminalState(state: string): boolean {
  return TERMINAL.has(state);
}

/** True for a state in which the task waits for its caller or for a person. */
export function isInterruptedState(state: string): boolean {
  return state === 'TASK_STATE_INPUT_REQUIRED' || state === 'TASK_STATE_AUTH_REQUIRED';
}

export interface WirePart {
  readonly text?: string;
  readonly data?: unknown;
  readonly mediaType?: string;
}

export interface WireMessage {
  readonly messageId: string;
  readonly contextId: string;
  readonly taskId: string;
  readonly role: 'ROLE_USER' | 'ROLE_AGENT';
  readonly parts: readonly WirePart[];
  readonly extensions?: readonly string[];
  /** Present on messages that the client sent. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly referenceTaskIds?: readonly string[];
}

interface WireStatus {
  readonly state: TaskState;
  readonly message?: WireMessage;
  /** ISO 8601, on the Redis clock. */
  readonly timestamp: string;
}

export interface WireArtifact {
  readonly artifactId: string;
  readonly name: string;
  readonly parts: readonly WirePart[];
}

export interface WireTask {
  readonly id: string;
  readonly contextId: string;
  readonly status: WireStatus;
  readonly artifacts: readonly WireArtifact[];
  readonly history: readonly WireMessage[];
}

interface OfTask {
  readonly taskId: string;
  readonly contextId: string;
}

/** One event of a task's stream (`StreamResponse`). */
export type WireUpdate =
  | { readonly task: WireTask }
  | { readonly statusUpdate: OfTask & { readonly status: WireStatus } }
  | {
      readonly artifactUpdate: OfTask & {
        readonly artifact: WireArtifact;
        readonly append?: true;
        readonly lastChunk?: true;
      };
    };
