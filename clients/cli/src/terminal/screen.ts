import type { Key } from 'node:readline';
import type { PromptState } from './frame.ts';
import type { Surface } from './look.ts';

/** What a prompt returns when the person pressed Ctrl+C, closed the input, or the prompt was taken away. */
export const LEFT = Symbol('left');
export type Left = typeof LEFT;

export interface ScreenOption<Value> {
  readonly value: Value;
  readonly label: string;
  /** Stands behind the label, which is then cut to one row. */
  readonly note?: string | undefined;
}

interface PromptTexts {
  /** Read again whenever the prompt is drawn, so that a getter may count down. */
  readonly label: string;
  /** The time that is left, to stand behind the label; called whenever the prompt is drawn. */
  readonly countdown?: (() => string) | undefined;
  readonly description?: string | undefined;
}

/** The label of a prompt, with the time that is left now. */
export function labelOf({ label, countdown }: PromptTexts): string {
  return countdown === undefined ? label : `${label}${countdown()}`;
}

/** Returns what is wrong with an input; nothing when it is right. */
type Validate<Value> = (value: Value) => string | undefined;

export interface TextPrompt extends PromptTexts {
  readonly initial?: string | undefined;
  readonly validate: Validate<string>;
  /** Whether the text may have line breaks. Else those of a paste become blanks. */
  readonly takesLines?: boolean;
  /** Whether several lines are expected, so that the person is told how to type them. */
  readonly hasLines?: boolean;
}

interface ChoicePrompt extends PromptTexts {
  /** True: what was picked is not on the screen once the prompt has ended. */
  readonly isSensitive?: boolean;
}

export interface SelectPrompt<Value> extends ChoicePrompt {
  /** Read again whenever the prompt is drawn, so that a getter may change them. */
  readonly options: readonly ScreenOption<Value>[];
  readonly initial?: Value | undefined;
}

export interface MultiSelectPrompt extends ChoicePrompt {
  readonly options: readonly ScreenOption<string>[];
  readonly initial: readonly string[];
  readonly validate: Validate<readonly string[]>;
}

/** A prompt while it is open: what keys do to it, and how it looks. */
export interface OpenPrompt<Value> {
  readonly takesLines?: boolean;
  /** What is entered now. */
  value(): Value;
  /** What is wrong with it; nothing when it may be entered. */
  fault(): string | undefined;
  /** Whether a key enters it. */
  isEntered(key: Key): boolean;
  press(typed: string | undefined, key: Key): void;
  paste?(text: string): void;
  /** For a text that may be edited in another program. */
  readonly edit?: { read(): string; write(text: string): void };
  /** The rows that show it. They fit on the surface. */
  frame(state: PromptState, surface: Surface): readonly string[];
}

/** The prompts of a terminal. Each resolves with the input, or with LEFT; all texts are already safe to print. */
export interface Screen {
  /** Whether an open prompt follows its getters at each redrawing. */
  readonly isLive: boolean;
  /** Prints lines above the next prompt. */
  say(text: string): void;
  text(prompt: TextPrompt, signal: AbortSignal): Promise<string | Left>;
  /** Reads a text without showing it, not even its length. */
  hidden(prompt: TextPrompt, signal: AbortSignal): Promise<string | Left>;
  select<Value>(prompt: SelectPrompt<Value>, signal: AbortSignal): Promise<Value | Left>;
  multiSelect(prompt: MultiSelectPrompt, signal: AbortSignal): Promise<readonly string[] | Left>;
  /** Draws the current prompt again, where that does not disturb; for countdowns. */
  redraw(): void;
}

/** A terminal's streams. */
export interface TerminalStreams {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
}
