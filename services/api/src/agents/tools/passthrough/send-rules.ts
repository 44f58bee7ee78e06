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
  /** True: the result also has the server's own form, for callers that are no model. */
  readonly whole?: true;
  /** True: the result of a tool with a page has that form, too, for the page. */
  readonly pages?: boolean;
  /** Keeps a round in the record of its call. Absent: no other pod can continue the call. */
  readonly rounds?: RoundKeeper | undefined;
}

/** Seals how far one server's calls by one person have come. */
interface RoundKeeper {
  readonly serverId: string;
  seal(callKey: string, progress: CallProgress): string;
  unseal(callKey: string, sealed: string): OpenedProgress | undefined;
}
