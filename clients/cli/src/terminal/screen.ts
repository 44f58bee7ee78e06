/** What a prompt returns when the person pressed Ctrl+C, closed the input, or the prompt was taken away. */
export const LEFT = Symbol('left');
export type Left = typeof LEFT;

export interface ScreenOption<Value> {
  readonly value: Value;
  readonly label: string;
}

interface PromptTexts {
  /** Read again whenever the prompt is drawn, so that a getter may count down. */
  readonly label: string;
  readonly description?: string | undefined;
}

/** Returns what is wrong with an input; nothing when it is right. */
type Validate<Value> = (value: Value) => string | undefined;

export interface TextPrompt extends PromptTexts {
  readonly initial?: string | undefined;
  readonly validate: Validate<string>;
}

interface ChoicePrompt extends PromptTexts {
  /** True: what was picked is not on the screen once the prompt has ended. */
  readonly isSensitive?: boolean;
}

export interface SelectPrompt<Value> extends ChoicePrompt {
  readonly options: readonly ScreenOption<Value>[];
  readonly initial?: Value | undefined;
}

export interface MultiSelectPrompt extends ChoicePrompt {
  readonly options: readonly ScreenOption<string>[];
  readonly initial: readonly string[];
  readonly validate: Validate<readonly string[]>;
}

/** The prompts of a terminal. Each resolves with the input, or with LEFT; all texts are already safe to print. */
export interface Screen {
  /** Prints lines above the next prompt. */
  say(text: string): void;
  text(prompt: TextPrompt, signal: AbortSignal): Promise<string | Left>;
  /** Reads a line without showing it, not even its length. */
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
