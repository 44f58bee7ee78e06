import type { Html } from '../../kit/html.ts';
import type { Notice } from '../../kit/notice.ts';

/** The texts of the page with all that waits for a person, in one language. */
export interface InboxStrings {
  /** On the sign-in page, in place of what it says about the link of a question. */
  readonly signInWhy: string;
  readonly devSignInHelp: string;
  readonly title: string;
  readonly waiting: string;
  readonly empty: string;
  /** How much waits, as it is said: `3`, or `300+`. */
  readonly counted: (count: string) => string;
  /** There is more than the page shows. */
  readonly older: string;
  readonly again: string;
  /** What an open page says of what has changed since it was loaded. */
  readonly live: {
    /** Of an item that is not there any more, where it is not known how it ended. */
    readonly ended: string;
    /** Of a call of a group that may be open, and that the page has no room for any more. */
    readonly unseen: string;
    /** Of a new call of a group. */
    readonly begun: string;
    /** For those who hear the page. */
    readonly endedNews: string;
    readonly unseenNews: string;
    readonly begunNews: string;
    readonly signedOut: string;
  };
  readonly timeLeft: (leftMs: number) => string;
  readonly answer: string;
  readonly decide: string;
  /** The same with what it is about, for those who hear the page. */
  readonly answerNamed: (title: string) => string;
  readonly decideNamed: (title: string) => string;
  /** `count` says how many equal calls there are; absent for a single one. */
  readonly groupTitle: (agent: Html, tool: Html, count?: Html) => Html;
  readonly group: {
    readonly decide: string;
    readonly decideNamed: (title: string) => string;
    readonly lead: string;
    readonly approve: string;
    readonly deny: string;
    readonly same: string;
    readonly differing: string;
    readonly call: (number: string) => string;
    readonly more: string;
    readonly noneChosen: string;
    /** How many of the chosen calls were decided, of how many. */
    readonly partly: (recorded: number, chosen: number) => Notice;
  };
  readonly remembered: string;
  readonly rememberedLead: string;
  readonly rememberedEmpty: string;
  readonly inConversation: string;
  readonly until: (day: string) => string;
  readonly forget: string;
  readonly forgetNamed: (tool: string) => string;
  readonly accounts: string;
  /** The link from other pages to the inbox. */
  readonly back: string;
  /** Where nobody signs in on these pages. */
  readonly elsewhere: Notice;
}
