import type { Html } from '../kit/html.ts';
import type { Around1, Notice } from '../kit/notice.ts';
import type { AccountStrings } from './accounts/strings.ts';
import type { AnswerStrings } from './answer/strings.ts';
import type { ApprovalPageStrings } from './approval/strings.ts';
import type { ConsoleSignInStrings } from './console/strings.ts';
import type { InboxStrings } from './inbox/strings.ts';
import type { LinkStrings } from './link/strings.ts';
import type { PageView } from './view.ts';

/** A sentence around two names. */
type Around2 = (first: Html, second: Html) => Html;

export type FailureReason = Extract<PageView, { page: 'failed' }>['reason'];
type SecretFault = NonNullable<Extract<PageView, { page: 'secret' }>['fault']>;

/** Everything the pages say, in one language; whole sentences, so that every language can order its own. */
export interface PageStrings {
  readonly common: {
    /** Before the document's title when a form came back with a fault. */
    readonly fault: string;
    readonly close: string;
    readonly tryAgain: string;
    readonly startAgain: string;
    readonly forSupport: Around1;
    readonly providerSaid: Around1;
  };
  readonly signIn: {
    readonly title: string;
    readonly why: string;
    readonly where: Around1;
    readonly button: string;
  };
  readonly devSignIn: {
    readonly title: string;
    readonly warning: string;
    readonly label: string;
    readonly help: string;
    readonly button: string;
  };
  readonly asking: {
    /** The asker that names no agent, within a sentence and at its start. */
    readonly unnamed: string;
    readonly unnamedFirst: string;
    readonly person: string;
    /** Who wrote the message below; the asker comes first. */
    readonly words: Around1;
    readonly decline: string;
    readonly afterDecline: Around1;
    /** For strategies that learn only later who is there. */
    readonly personLater: string;
  };
  readonly consent: {
    readonly title: Around1;
    /** Agent, service. */
    readonly lead: Around2;
    readonly origin: string;
    readonly originLater: Around1;
    readonly lookAlike: string;
    readonly scopes: string;
    readonly scopesLater: string;
    readonly steps: Around1;
    readonly proceed: string;
    readonly proceedTo: Around1;
  };
  readonly secret: {
    readonly title: Around1;
    readonly lead: Around2;
    readonly kept: Around2;
    readonly onceTitle: Around1;
    /** Agent, label of the field. */
    readonly onceLead: Around2;
    /** The tool that may use it, agent. */
    readonly once: Around2;
    readonly faults: Readonly<Record<SecretFault, string>>;
    readonly proceed: string;
    readonly onceProceed: string;
  };
  readonly answer: AnswerStrings;
  readonly approval: ApprovalPageStrings;
  readonly accounts: AccountStrings;
  readonly inbox: InboxStrings;
  readonly console: ConsoleSignInStrings;
  readonly link: LinkStrings;
  readonly continue: {
    readonly title: Around1;
    readonly lead: string;
    readonly link: Around1;
  };
  readonly waiting: {
    readonly title: string;
    readonly lead: string;
    readonly look: string;
    readonly close: string;
  };
  readonly done: {
    readonly title: Around1;
    readonly titlePlain: string;
    readonly lead: string;
    readonly kept: Around1;
    readonly keptPlain: string;
    readonly withheld: string;
    readonly withheldNext: string;
  };
  readonly declined: Notice;
  readonly expired: Notice;
  readonly settled: Notice;
  readonly mismatch: Notice & { readonly signOut: string; readonly noSignOut: string };
  readonly notFound: Notice;
  readonly failed: Readonly<Record<FailureReason, Notice>>;
  readonly refused: Notice;
  readonly tooMany: {
    readonly title: string;
    readonly what: string;
    readonly waitSeconds: (seconds: number) => string;
    readonly waitMinutes: (minutes: number) => string;
  };
  readonly unavailable: Notice;
}
