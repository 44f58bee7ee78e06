import type { Viewer } from '../../mcp/visibility.ts';
import type { CallProgress, OpenedProgress } from './rounds.ts';
import type { QuestionLimits } from './server-questions.ts';

/** The rules for a person's calls of one server's tools. */
export interface SendRules extends QuestionLimits {
  /** Who makes the call. */
  readonly viewer: Viewer;
  /** How long one request may take, in ms. Waits for people do not count. */
  readonly timeoutMs: number;
  /** How long the server may work on a task that it makes of the call, in ms. Waits for people do not count. */
  readonly taskMs: number;
  /** True if the result is also kept in the server's own form, for callers other than models. */
  readonly whole?: true;
  /** True if that form is also kept for results of tools with a page. */
  readonly pages?: boolean;
  /** Stores a round in the record of its call. Absent: no other pod can continue the call. */
  readonly rounds?: RoundKeeper | undefined;
}

/** Seals the progress of one person's calls to one server. */
interface RoundKeeper {
  readonly serverId: string;
  seal(callKey: string, progress: CallProgress): string;
  unseal(callKey: string, sealed: string): OpenedProgress | undefined;
}
