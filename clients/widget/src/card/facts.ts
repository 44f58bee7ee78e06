import type { TemplateResult } from 'lit';
import type { Elicitation } from '../elicitation.ts';
import type { Refusal } from '../server/refusal.ts';
import type { Strings } from '../strings/strings.ts';
import type { CardState } from './state.ts';

/** What a person can set off on a card. */
export interface Acts {
  /** The link was pressed; the browser opens it unless the event is stopped. */
  open(event: MouseEvent): void;
  submit(): void;
  decline(): void;
  cancel(): void;
  check(): void;
  copy(href: string): void;
}

/** All that a card is drawn from. */
export interface CardFacts {
  /** Nothing until it is known what is asked. */
  readonly view: Elicitation | undefined;
  readonly state: CardState;
  readonly agent: string;
  readonly strings: Strings;
  readonly headingLevel: number;
  /** Time left in ms; nothing when there is no deadline, or no need to tell. */
  readonly left: number | undefined;
  readonly refusal: Refusal | undefined;
  /** Errors of the server that belong to no field. */
  readonly leftovers: readonly string[];
  readonly fields: TemplateResult;
  readonly acts: Acts;
  readonly isChecking: boolean;
  /** An answer waits for the connection. */
  readonly isUnsent: boolean;
  /** The address has been in view for long enough. */
  readonly isAwake: boolean;
}

/** The same, of a question that is known. */
export type AskedFacts = CardFacts & { readonly view: Elicitation };
