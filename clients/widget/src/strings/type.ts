/**
 * The types of the question card's texts. The texts are in `en.ts` and `de.ts`; those of approvals and of the inbox have their
 * own types.
 */

import type { Risk } from '@parley/core/domain/approvals/risk';
import type { Mode, TerminalStatus } from '@parley/core/domain/elicitations/status';
import type { FormControl } from '@parley/core/domain/forms/controls';
import type { Fault } from '@parley/core/domain/forms/fault';
import type { AddressRefusal, UrlWarning } from '../address.ts';

/** Why a field cannot be sent. `comma`: a number with a comma, which is ambiguous. */
export type FieldFault = Fault | { readonly rule: 'comma' };

/** How a question ended, as input for the sentence about it. */
export interface SettledQuestion {
  readonly status: TerminalStatus;
  readonly mode: Mode;
  /** True when this card settled it. */
  readonly here: boolean;
  /** Why the question was withdrawn. */
  readonly reason?: string | undefined;
}

/** Why a question was asked, from its context. */
export interface Why {
  readonly trigger?: string | undefined;
  /** The tool or server that needs the answer, in plain text. */
  readonly tool?: string | undefined;
}

/** All texts of the card. All are plain text, and a page may override each. Durations are in ms. */
export interface Strings {
  /** The BCP 47 tag of these texts, which also determines numbers, times and plurals. */
  readonly lang: string;

  // Who asks, and why
  /** The asker of a question that names no agent, for use in sentences. */
  readonly someAgent: string;
  /** Title of a question without one. */
  readonly questionFrom: (agent: string) => string;
  /** The line about who asks. */
  readonly asks: (agent: string) => string;
  /** The line about the reason; undefined for no line. */
  readonly why: (why: Why) => string | undefined;
  /** How much harm a wrong answer or decision can do. */
  readonly risk: (risk: Risk) => string;
  /** Shown with a `sensitive` question. */
  readonly sensitive: string;

  // Buttons
  readonly send: string;
  readonly sending: string;
  readonly decline: string;
  /** Cancels a question whose page was not opened. */
  readonly notNow: string;
  /** Cancels a question whose page was opened. */
  readonly cancel: string;
  readonly openPage: string;
  readonly connectAccount: string;
  readonly openAgain: string;
  readonly checkNow: string;
  readonly checking: string;
  readonly copyLink: string;
  readonly copied: string;
  readonly copyFailed: string;
  readonly tryAgain: string;
  /** Read by screen readers after the name of a link that opens a new tab. */
  readonly newTab: string;

  // The address of a url question
  /** Shown before the URL. */
  readonly opens: (host: string) => string;
  readonly warningTitle: string;
  readonly warning: (warning: UrlWarning) => string;
  readonly addressRefused: (why: AddressRefusal) => string;
  /** Announced when the link is pressed before it has been in view for a second. */
  readonly lookFirst: string;
  /** Shown below the URL, for browsers inside other apps and for blocked tabs. */
  readonly nothingOpened: string;

  // States
  readonly loading: string;
  readonly waitingThere: string;
  readonly waitingThereHint: string;
  readonly ended: (ending: SettledQuestion) => string;
  readonly gone: string;
  readonly offline: string;

  // The form
  readonly requiredMark: string;
  readonly choose: string;
  /** The choice that clears the answer of an optional field. */
  readonly noAnswer: string;
  readonly yes: string;
  readonly no: string;
  /** What a field accepts; undefined when that is obvious. */
  readonly hint: (field: FormControl) => string | undefined;
  /** `timeZone` is an IANA name. */
  readonly localTime: (timeZone: string) => string;
  /** How many more characters are allowed; negative when there are too many. */
  readonly room: (left: number) => string;
  readonly fault: (fault: FieldFault) => string;
  /** A field error in the server's own words. */
  readonly serverFault: (message: string) => string;

  // Refusals, by Parley's error code
  readonly refusal: (code: string, retryAfterSeconds?: number) => string;

  // Time
  /** Visible countdown: `4:59 left`, `2 hours left`. */
  readonly countdown: (leftMs: number) => string;
  /** Announced at five minutes and at one minute. */
  readonly timeLeft: (leftMs: number) => string;

  // Announced by the live regions
  readonly arrived: (agent: string) => string;
}
