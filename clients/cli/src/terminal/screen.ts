import type { Key } from 'node:readline';
import type { PromptState } from './frame.ts';
import type { Surface } from './look.ts';

/** The result of a prompt when the person pressed Ctrl+C or closed the input, or the prompt was withdrawn. */
export const LEFT = Symbol('left');
export type Left = typeof LEFT;

export interface ScreenOption<Value> {
  readonly value: Value;
  readonly label: string;
  /** Shown after the label, which is then cut to one row. */
  readonly note?: string | undefined;
}

interface PromptTexts {
  /** Read at every drawing, so that a getter may count down. */
  readonly label: string;
  /** The remaining time, shown after the label; called at every drawing. */
  readonly countdown?: (() => string) | undefined;
  readonly description?: string | undefined;
}

/** The label of a prompt with the present remaining time. */
export function labelOf({ label, countdown }: PromptTexts): string {
  return countdown === undefined ? label : `${label}${countdown()}`;
}

/** Returns what is wrong with an input; undefined if it is valid. */
type Validate<Value> = (value: Value) => string | undefined;

export interface TextPrompt extends PromptTexts {
  readonly initial?: string | undefined;
  readonly validate: Validate<string>;
  /** Whether the text may have line breaks. If not, those of a paste become blanks. */
  readonly takesLines?: boolean;
  /** Whether several lines are expected; the person is then told how to type them. */
  readonly hasLines?: boolean;
}

interface ChoicePrompt extends PromptTexts {
  /** True: the choice is no longer visible once the prompt has ended. */
  readonly isSensitive?: boolean;
}

export interface SelectPrompt<Value> extends ChoicePrompt {
  /** Read at every drawing, so that a getter may change the options. */
  readonly options: readonly ScreenOption<Value>[];
  readonly initial?: Value | undefined;
}

export interface MultiSelectPrompt extends ChoicePrompt {
  readonly options: readonly ScreenOption<string>[];
  readonly initial: readonly string[];
  readonly validate: Validate<readonly string[]>;
}

/** An open prompt: its reaction to keys, and its appearance. */
export interface OpenPrompt<Value> {
  readonly takesLines?: boolean;
  /** The present input. */
  value(): Value;
  /** What is wrong with the input; undefined if it may be entered. */
  fault(): string | undefined;
  /** Whether a key enters the input. */
  isEntered(key: Key): boolean;
  press(typed: string | undefined, key: Key): void;
  paste?(text: string): void;
  /** Present for a text that may be edited in another program. */
  readonly edit?: { read(): string; write(text: string): void };
  /** The rows of the prompt. They fit on the surface. */
  frame(state: PromptState, surface: Surface): readonly string[];
}

/** The prompts of a terminal. Each resolves with the input or with LEFT. All texts must already be safe to print. */
export interface Screen {
  /** Whether an open prompt reads its getters again at each redrawing. */
  readonly isLive: boolean;
  /** Prints lines above the next prompt. */
  say(text: string): void;
  text(prompt: TextPrompt, signal: AbortSignal): Promise<string | Left>;
  /** Reads a text without showing it, not even its length. */
  hidden(prompt: TextPrompt, signal: AbortSignal): Promise<string | Left>;
  select<Value>(prompt: SelectPrompt<Value>, signal: AbortSignal): Promise<Value | Left>;
  multiSelect(prompt: MultiSelectPrompt, signal: AbortSignal): Promise<readonly string[] | Left>;
  /** Draws the current prompt again, unless that would disturb; for countdowns. */
  redraw(): void;
}

/** A terminal's streams. */
export interface TerminalStreams {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
}
