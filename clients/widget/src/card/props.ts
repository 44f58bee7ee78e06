import type { TemplateResult } from 'lit';
import type { Elicitation } from '../elicitation.ts';
import type { Refusal } from '../server/refusal.ts';
import type { Strings } from '../strings/strings.ts';
import type { CardState } from './state.ts';

/** What a person can do on a card. */
export interface CardActions {
  /** The link was pressed. The browser opens it unless the event is cancelled. */
  open(event: MouseEvent): void;
  submit(): void;
  /** Answers the form's only field, a yes or no. */
  choose(isYes: boolean): void;
  decline(): void;
  cancel(): void;
  check(): void;
  copy(href: string): void;
}

/** Everything that a card is rendered from. */
export interface CardProps {
  /** Undefined until the question is known. */
  readonly view: Elicitation | undefined;
  readonly state: CardState;
  readonly agent: string;
  readonly strings: Strings;
  readonly headingLevel: number;
  /** Time to the deadline in ms; undefined without one, and for a question that has ended. */
  readonly leftMs: number | undefined;
  readonly refusal: Refusal | undefined;
  /** Errors of the server that belong to no field. */
  readonly strayErrors: readonly string[];
  readonly fields: TemplateResult;
  /** The form is a single yes or no. */
  readonly isYesNo: boolean;
  readonly actions: CardActions;
  readonly isChecking: boolean;
  /** An answer is waiting for the connection. */
  readonly isUnsent: boolean;
  /** The URL has been in view for long enough. */
  readonly isReady: boolean;
}

/** The same for a known question. */
export type QuestionProps = CardProps & { readonly view: Elicitation };
