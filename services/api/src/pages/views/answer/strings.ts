import type { FormControl } from '@parley/core/domain/forms/controls';
import type { Fault } from '@parley/core/domain/forms/fault';
import type { Html } from '../../kit/html.ts';
import type { Notice } from '../../kit/notice.ts';

/** How a question ended, as its answer page tells it. `settled`: answered in another place, dismissed or taken back. */
export type AnsweredAs = 'answered' | 'declined' | 'expired' | 'settled';

/** What is wrong with a control. `pattern`: the text does not match the regular expression of its field. */
export type ControlFault = Fault | { readonly rule: 'pattern' };

/** The texts of the answer page, in one language. */
export interface AnswerStrings {
  readonly entry: {
    readonly title: string;
    readonly lead: string;
    readonly button: string;
    /** For browsers without scripts. */
    readonly label: string;
    readonly help: string;
    /** The label of the link for the owner, who signs in instead. */
    readonly signIn: string;
  };
  /** Why the owner signs in. */
  readonly signInWhy: string;
  /** Another person is signed in. */
  readonly mismatch: Notice;
  readonly title: string;
  readonly timeLeft: (leftMs: number) => string;
  readonly opens: string;
  readonly requiredMark: string;
  readonly choose: string;
  readonly noAnswer: string;
  readonly yes: string;
  readonly no: string;
  readonly hint: (control: FormControl) => string | undefined;
  readonly fault: (fault: ControlFault) => string;
  readonly faults: string;
  readonly send: string;
  readonly proceedTo: (host: Html) => Html;
  readonly ended: Readonly<Record<AnsweredAs, Notice>>;
  /** Before what is said of a question that had ended before it was answered here. */
  readonly late: string;
  readonly spent: Notice;
}

const MINUTE_MS = 60_000;
const UNITS = [
  ['day', 24 * 60 * MINUTE_MS],
  ['hour', 60 * MINUTE_MS],
  ['minute', MINUTE_MS],
] as const;

/** A length of time in words, in its largest whole unit: `3 hours`. Less than a minute counts as one. */
export function durationIn(language: string, ms: number): string {
  const [unit, length] = UNITS.find(([, unitMs]) => ms >= unitMs) ?? UNITS[2];
  const amount = Math.max(1, Math.floor(ms / length));
  return new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' }).format(amount);
}
