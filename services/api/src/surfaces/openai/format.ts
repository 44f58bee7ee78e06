import type { TurnEvent } from '@parley/shared/domain/runs/turn-events';

/** A piece of the one text that a reply of OpenAI is: the assistant's text, or an envelope. */
export interface OpenAiContent {
  readonly text: string;
  readonly isEnvelope: boolean;
}

/** One event of a reply as its format names it; events of chat completions have no names. */
export interface OpenAiLine {
  readonly event?: string;
  readonly text: string;
}

/** How a turn ended. */
export type OpenAiEnd = Pick<Extract<TurnEvent, { type: 'turn-finished' }>, 'reason' | 'usage'>;

/** How one of OpenAI's formats writes a streamed reply. It keeps state, so it serves one connection. */
export interface OpenAiFormat {
  /** The first events. Called once, before all else. */
  begin(messageId: string | undefined): readonly OpenAiLine[];
  content(content: OpenAiContent): readonly OpenAiLine[];
  /** The last events of a turn that ended well. */
  finish(end: OpenAiEnd): readonly OpenAiLine[];
  /** The last events where the turn waits for its person, and this reply does not. */
  wait(): readonly OpenAiLine[];
  /** The last events of a turn that did not end well; also where nothing has begun. */
  fail(code: string, message: string): readonly OpenAiLine[];
}
