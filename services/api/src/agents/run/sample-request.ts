import { sha256 } from '@parley/shared/records/digest';

/** A server's request for a text of the agent's own model. */
export interface SampleForServer {
  readonly ordinal: number;
  readonly server: { readonly id: string; readonly title: string };
  /** The parameters of a `sampling/createMessage`. */
  readonly params: Readonly<Record<string, unknown>>;
  /** The maximum number of tokens that the model writes. */
  readonly tokensMax: number;
  /** How long the person may take for the approval. */
  readonly timeoutSeconds: number;
  /** Aborted when the server withdraws its request. */
  readonly withdrawn: AbortSignal;
}

/** The name of the calls that represent the samplings of a turn. */
export const SAMPLING = 'sampling';

/**
 * The id of a sampling on the turn's stream. It contains the id of the tool's call, as a delegate's calls do, and a digest of
 * what the person approves, because a repeated call may ask for another text in the same place.
 */
export function samplingId(toolCallId: string, ordinal: number, approved: unknown): string {
  const digest = sha256(JSON.stringify(approved));
  return `${toolCallId}.${SAMPLING}-${ordinal}.${digest}`;
}

/** True for the id of a sampling that belongs to the call. */
export function isSamplingOf(toolCallId: string, id: string | undefined): boolean {
  return id?.startsWith(`${toolCallId}.${SAMPLING}-`) === true;
}
