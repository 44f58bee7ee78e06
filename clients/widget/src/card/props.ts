import type { TemplateResult } from 'lit';
import type { Elicitation } from '../elicitation.ts';
import type { Refusal } from '../server/refusal.ts';
import type { Strings } from '../strings/strings.ts';
import type { CardState } from './state.ts';

/** What a person can do on a card. */
export interface CardActions {
  /** Called when the link is pressed. The browser opens it unless the event is cancelled. */
  open(event: MouseEvent): void;
  submit(): void;
  /** Answers the form's only field, a yes or no. */
  choose(isYes: boolean): void;
  decline(): void;
  cancel(): void;
  check(): void;
  copy(href: string): void;
}

/** Everything from which a card is rendered. */
export interface CardProps {
  /** Undefined until the question is known. */
  readonly view: Elicitation | undefined;
  readonly state: CardState;
  readonly agent: string;
  readonly strings: Strings;
  readonly headingLevel: number;
  /** The time until the deadline in ms; undefined without a deadline, and for an ended question. */
  readonly leftMs: number | undefined;
  readonly refusal: Refusal | undefined;
  /** The server's errors that belong to no field. */
  readonly strayErrors: readonly string[];
  readonly fields: TemplateResult;
  /** True if the form is a single yes or no. */
  readonly isYesNo: boolean;
  readonly actions: CardActions;
  readonly isChecking: boolean;
  /** True if an answer is waiting for the connection. */
  readonly isUnsent: boolean;
  /** True if the URL has been in view for long enough. */
  readonly isReady: boolean;
}

/** The properties of a card whose question is known. */
export type QuestionProps = CardProps & { readonly view: Elicitation };
