import type { Mode, TerminalStatus } from '@parley/shared/domain/elicitations/status';
import type { AddressRefusal, UrlWarning } from '../address.ts';
import type { FieldFault } from '../form/drafts.ts';
import type { Field } from '../form/fields.ts';

/** How a question ended, for the sentence that says so. */
export interface Ending {
  readonly status: TerminalStatus;
  readonly mode: Mode;
  /** True when it was this card that settled it. */
  readonly here: boolean;
  /** Why it was withdrawn. */
  readonly reason?: string | undefined;
}

/** Why a question was asked, from its context. */
export interface Why {
  readonly trigger?: string | undefined;
  /** The tool or server that needs it, plain text. */
  readonly tool?: string | undefined;
}

/**
 * Every word of the card. Plain text throughout; a page may override any of it. Durations are in ms.
 */
export interface Strings {
  /** BCP 47 tag of these texts; numbers, times and plurals follow it. */
  readonly lang: string;

  // Who asks, and why
  /** Stands for whoever asks, when no name is known; used inside sentences. */
  readonly someAgent: string;
  /** Title of a question that has none. */
  readonly questionFrom: (agent: string) => string;
  /** The line that says who asks. */
  readonly asks: (agent: string) => string;
  /** The line that says why; nothing when the message has to do. */
  readonly why: (why: Why) => string | undefined;
  /** Beside a `sensitive` question. */
  readonly sensitive: string;

  // Buttons
  readonly send: string;
  readonly sending: string;
  readonly decline: string;
  /** Cancels a question that was not acted on. */
  readonly notNow: string;
  /** Cancels a page that was opened. */
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
  /** For screen readers, after the name of a link that opens a new tab. */
  readonly newTab: string;

  // The address of a url question
  /** Before the highlighted host; also the accessible name of the whole address. */
  readonly opens: (host: string) => string;
  readonly warningTitle: string;
  readonly warning: (warning: UrlWarning) => string;
  readonly addressRefused: (why: AddressRefusal) => string;
  /** Said while the link is still asleep (it wakes when it has been visible for a second). */
  readonly lookFirst: string;
  /** Below the address: for browsers inside other apps, and blocked tabs. */
  readonly nothingOpened: string;

  // States
  readonly loading: string;
  readonly waitingThere: string;
  readonly waitingThereHint: string;
  readonly ended: (ending: Ending) => string;
  readonly gone: string;
  readonly offline: string;

  // The form
  readonly requiredMark: string;
  readonly choose: string;
  /** The choice that takes an answer back, where none is needed. */
  readonly noAnswer: string;
  readonly yes: string;
  readonly no: string;
  /** What a control takes, before anything is wrong; nothing when that goes without saying. */
  readonly hint: (field: Field) => string | undefined;
  /** `timeZone` is an IANA name. */
  readonly localTime: (timeZone: string) => string;
  /** How many characters are left, or too many where negative. */
  readonly room: (left: number) => string;
  readonly fault: (fault: FieldFault) => string;
  /** A field error in the server's own words. */
  readonly serverFault: (message: string) => string;

  // What Parley refused, by its code
  readonly refusal: (code: string, retryAfterSeconds?: number) => string;

  // Time
  /** Visible countdown: `4:59 left`, `2 hours left`. */
  readonly countdown: (leftMs: number) => string;
  /** Said aloud at five minutes and at one minute. */
  readonly timeLeft: (leftMs: number) => string;

  // Said by the live regions
  readonly arrived: (agent: string) => string;
}
