import type { Around1, Notice } from '../../kit/notice.ts';
import type { DisconnectedAs } from '../view.ts';

/** What the accounts pages say. */
export interface AccountStrings {
  /** On the sign-in page, in place of what it says about the link of a question. */
  readonly signInWhy: string;
  readonly devSignInHelp: string;
  readonly title: string;
  readonly lead: string;
  readonly empty: string;
  readonly person: string;
  readonly state: string;
  readonly states: Readonly<Record<'connected' | 'reconnect_required', string>>;
  /** The state of an account that the company sign-in connected. */
  readonly managed: string;
  readonly savedAt: string;
  /** The day of a time in ms. */
  readonly day: (ms: number) => string;
  readonly scopes: string;
  readonly renewal: string;
  readonly renews: string;
  readonly endsByItself: string;
  readonly disconnect: string;
  /** The same with the name of the service, for those who hear the page. */
  readonly disconnectNamed: (service: string) => string;
  readonly signOut: string;
  readonly confirm: {
    readonly title: Around1;
    readonly what: Around1;
    readonly next: string;
    readonly proceed: string;
    readonly back: string;
  };
  readonly disconnected: {
    readonly title: Around1;
    readonly as: Readonly<Record<DisconnectedAs | 'before', Around1>>;
    readonly next: string;
    readonly back: string;
  };
  /** Where nobody signs in on these pages. */
  readonly elsewhere: Notice;
  /** The link from the page of a connected account to this one. */
  readonly link: string;
}

/** A day in words, in UTC: the time zone of the person is not known. */
export function dayIn(language: 'en' | 'de', ms: number): string {
  return new Intl.DateTimeFormat(language === 'en' ? 'en-GB' : 'de-DE', {
    dateStyle: 'long',
    timeZone: 'UTC',
  }).format(ms);
}
