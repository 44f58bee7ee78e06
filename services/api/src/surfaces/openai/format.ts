import type { TurnEvent } from '@parley/shared/domain/runs/turn-events';

/** A piece of the reply's single text: the assistant's text, or an envelope. */
export interface OpenAiContent {
  readonly text: string;
  readonly isEnvelope: boolean;
}

/** One event of a reply, with its name in the format. Events of chat completions have no names. */
export interface OpenAiLine {
  readonly event?: string;
  readonly text: string;
}

/** How a turn ended. */
export type OpenAiEnd = Pick<Extract<TurnEvent, { type: 'turn-finished' }>, 'reason' | 'usage'>;

/** Writes a streamed reply in one of OpenAI's formats. It keeps state, so it serves one connection. */
export interface OpenAiFormat {
  /** The first events. Called once, before everything else. */
  begin(messageId: string | undefined): readonly OpenAiLine[];
  content(content: OpenAiContent): readonly OpenAiLine[];
  /** The last events of a turn that finished. */
  finish(end: OpenAiEnd): readonly OpenAiLine[];
  /** The last events if the turn waits for its person and this reply does not. */
  wait(): readonly OpenAiLine[];
  /** The last events of a turn that failed, even if nothing has begun. */
  fail(code: string, message: string): readonly OpenAiLine[];
}
