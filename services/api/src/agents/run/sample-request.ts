import { sha256 } from '@parley/shared/records/digest';

/** A request of a server for a text of the agent's own model. */
export interface SampleForServer {
  readonly ordinal: number;
  readonly server: { readonly id: string; readonly title: string };
  /** The parameters of a `sampling/createMessage`. */
  readonly params: Readonly<Record<string, unknown>>;
  /** Tokens that the model writes at most. */
  readonly tokensMax: number;
  /** How long the person has for the approval. */
  readonly timeoutSeconds: number;
  /** Aborted when the server takes its request back. */
  readonly withdrawn: AbortSignal;
}

/** What the calls are named that the samplings of a turn are shown as. */
export const SAMPLING = 'sampling';

/**
 * The id of a sampling on the turn's stream. It is named after the call of the tool, as a delegate's calls are, and after what the
 * person approves: a server that is called again may ask for another text at the same place.
 */
export function samplingId(toolCallId: string, ordinal: number, approved: unknown): string {
  const digest = sha256(JSON.stringify(approved));
  return `${toolCallId}.${SAMPLING}-${ordinal}.${digest}`;
}

/** True for the id of a sampling that belongs to the call. */
export function isSamplingOf(toolCallId: string, id: string | undefined): boolean {
  return id?.startsWith(`${toolCallId}.${SAMPLING}-`) === true;
}
