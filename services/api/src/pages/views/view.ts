import type { ApprovalTool, RememberFor } from '@parley/core/domain/approvals/approval';
import type { Risk } from '@parley/core/domain/approvals/risk';
import type { EndedApprovalStatus } from '@parley/core/domain/approvals/status';
import type { StoredAccount } from '../../accounts/account-state.ts';
import type { FailureCode } from '../../accounts/connector.ts';
import type { FormTarget } from '../kit/fields.ts';
import type { ShownField } from './answer/controls.ts';
import type { AnsweredAs } from './answer/strings.ts';
import type { GroupView, ShownGrant, ShownWaiting } from './inbox/view.ts';

/** Who asks and for what, as the person knows it. Plain text throughout: pages escape all of it. */
export interface Asking {
  /** The agent that asks, by its title. Absent when the question names none: then the service behind the chat asks. */
  readonly agent?: string | undefined;
  /** What is asked for: the tool's service, by its title. */
  readonly service: string;
  /** The question's own words. */
  readonly message: string;
}

/** What a person who has signed in gets to see. */
type LeadsTo = 'console' | 'accounts' | 'inbox' | 'answer' | 'approval' | 'link';

/** A connected account, as its person sees it. */
export interface ShownAccount extends StoredAccount {
  readonly service: string;
  /** Path of the page that asks to confirm. */
  readonly disconnect: string;
}

/** What a service did with an access that was deleted here. */
export type DisconnectedAs = 'revoked' | 'unsupported' | 'unavailable';

/** A hosted page, as data. */
export type PageView =
  /** The person has to sign in first: explains why, and leads to the deployer's sign-in. */
  | {
      readonly page: 'sign-in';
      readonly signIn: FormTarget;
      readonly organisation: string;
      /** What the person gets to see; the connect page of a question when absent. */
      readonly leadsTo?: LeadsTo;
    }
  /** Development only: the person types who they are. */
  | {
      readonly page: 'dev-sign-in';
      readonly signIn: FormTarget;
      readonly leadsTo?: LeadsTo;
    }
  /** An operator signed in who may do nothing in the console. */
  | { readonly page: 'no-role'; readonly person: string; readonly signIn: FormTarget }
  /** The connected accounts of a person. */
  | {
      readonly page: 'accounts';
      readonly person: string;
      readonly accounts: readonly ShownAccount[];
      readonly signOut: FormTarget;
    }
  /** All that waits for a person, and what they have set up. */
  | {
      readonly page: 'inbox';
      readonly person: string;
      readonly waiting: readonly ShownWaiting[];
      /** There is more, which the page does not show. */
      readonly hasOlder?: true;
      readonly remembered: readonly ShownGrant[];
      readonly accounts: readonly ShownAccount[];
      readonly signOut: FormTarget;
    }
  | GroupView
  /** Some of the calls that were decided together had ended before. */
  | {
      readonly page: 'group-partly';
      /** How many of the chosen calls the person has decided. */
      readonly recorded: number;
      readonly chosen: number;
    }
  /** Nobody signs in on these pages. */
  | { readonly page: 'inbox-elsewhere' }
  /** Asks to confirm. */
  | {
      readonly page: 'disconnect';
      readonly service: string;
      readonly person: string;
      readonly proceed: FormTarget;
    }
  /** `revoked` is what the service did; absent when nothing was stored any more. */
  | { readonly page: 'disconnected'; readonly service: string; readonly revoked?: DisconnectedAs }
  /** Nobody signs in on these pages. */
  | { readonly page: 'accounts-elsewhere' }
  /** An account of another service that is about to be linked to the signed-in person. */
  | {
      readonly page: 'link';
      readonly service: string;
      readonly account: string;
      readonly person: string;
      readonly proceed: FormTarget;
      readonly signOut: FormTarget;
    }
  | { readonly page: 'linked'; readonly service: string }
  /** The browser is signed in to another account of the service. */
  | { readonly page: 'link-other'; readonly service: string }
  | { readonly page: 'link-spent' }
  /** What will happen, before it does. `decline` and `proceed` are posts. */
  | {
      readonly page: 'consent';
      readonly asking: Asking;
      /** The signed-in person, as the sign-in names them; absent with session binding, where it is checked later. */
      readonly person?: string;
      /** Where the person will be sent; absent when that cannot be known now. */
      readonly origin?: string;
      readonly scopes: readonly string[];
      readonly proceed: FormTarget;
      readonly decline: FormTarget;
    }
  /** One secret to paste: an API key of a connector, or a secret that an agent asked for. */
  | {
      readonly page: 'secret';
      readonly asking: Asking;
      readonly person?: string;
      readonly field: { readonly label: string; readonly help?: string; readonly lengthMax: number };
      /** Why what was typed before was not taken. What was typed is never shown again. */
      readonly fault?: 'empty' | 'rejected' | 'unavailable';
      /** For whom the secret is: the tool that may use it once; absent for a credential that is kept. */
      readonly onceFor?: string;
      readonly proceed: FormTarget;
      readonly decline: FormTarget;
    }
  /** An answer link was opened; the browser still holds its token. */
  | {
      readonly page: 'answer-entry';
      readonly enter: FormTarget;
      readonly about?: 'approval';
      /** Path of the same page for the owner, who signs in; absent where people cannot sign in. */
      readonly signInPath?: string;
    }
  /** A question to answer here. `proceed` and `decline` are posts. */
  | {
      readonly page: 'answer';
      readonly asking: Pick<Asking, 'agent' | 'message'>;
      readonly title?: string;
      readonly description?: string;
      /** The signed-in owner, as the sign-in names them; absent for a browser that came by a link. */
      readonly person?: string;
      readonly risk?: Risk;
      readonly fields: readonly ShownField[];
      /** Where a question with an address of its own leads. */
      readonly origin?: string;
      /** Time until the deadline, in ms. */
      readonly leftMs: number;
      readonly proceed: FormTarget;
      readonly decline: FormTarget;
    }
  /**
   * How a question ended that is answered here. `late`: what was sent here came later and was not recorded. `toInbox`: the
   * person has a page with what else waits for them.
   */
  | {
      readonly page: 'answer-ended';
      readonly ended: AnsweredAs;
      readonly late?: true;
      readonly toInbox?: true;
    }
  /** An answer link that does not open: too old, revoked, or used by another browser. */
  | { readonly page: 'answer-spent' }
  /** A call that waits for the decision of its person. `approve` and `deny` are posts. */
  | {
      readonly page: 'approval';
      readonly agent: string;
      readonly tool: Pick<ApprovalTool, 'server' | 'name' | 'hints'> & { readonly title: string };
      readonly arguments: Readonly<Record<string, unknown>>;
      /** JSON pointers of the values that are masked. */
      readonly masked: readonly string[];
      /** The signed-in person; absent for a browser that came by a link. */
      readonly person?: string;
      readonly remember?: RememberFor;
      readonly risk?: Risk;
      /** The arguments can be edited, in another place. */
      readonly canEdit?: true;
      /** The reason of a denial that was not taken. */
      readonly reason?: string;
      readonly leftMs: number;
      readonly approve: FormTarget;
      readonly deny: FormTarget;
    }
  /** How a call ended. `late`: what was decided here came later and was not recorded. */
  | {
      readonly page: 'approval-ended';
      readonly ended: EndedApprovalStatus;
      readonly late?: true;
      readonly toInbox?: true;
    }
  /** On the way to another origin: a link, and a refresh that follows it by itself. */
  | { readonly page: 'continue'; readonly url: string; readonly origin: string }
  /** The provider reports the end itself; the page reloads periodically. `again` is a path. */
  | { readonly page: 'waiting'; readonly again: string }
  /** Connected. `kept`: the question had ended by then, so the credential serves the next one. */
  | {
      readonly page: 'done';
      readonly service?: string;
      readonly kept?: true;
      /** Scopes that were asked for and not granted. */
      readonly withheldScopes?: readonly string[];
      /** There is a page with the person's accounts. */
      readonly hasAccountsPage?: true;
      /** Id of the elicitation, sent as a hint to the page that opened this one. */
      readonly elicitationId?: string;
      /** Origins of pages that get the hint. */
      readonly tell?: readonly string[];
    }
  | { readonly page: 'declined' }
  | { readonly page: 'expired' }
  /** The question ended otherwise: taken back, dismissed, or answered before. */
  | { readonly page: 'settled' }
  /** Another person is signed in. Does not reveal the owner of the link. `signOut` leads to a sign-in as another person. */
  | { readonly page: 'mismatch'; readonly about?: 'answer'; readonly signOut?: FormTarget }
  /** There is no such link, or nothing for the signed-in person, whom `signOut` signs out. */
  | { readonly page: 'not-found'; readonly signOut?: FormTarget }
  /** Nothing was connected; the question is still open. `retry` is a path. */
  | {
      readonly page: 'failed';
      readonly reason: FailureCode | 'sign-in';
      readonly retry?: string;
      readonly providerError?: string;
      /** For support: the id of the request, as the log has it. */
      readonly requestId: string;
    }
  /** A form came without its token, or from elsewhere. `retry` is a path. */
  | { readonly page: 'refused'; readonly retry?: string }
  | { readonly page: 'too-many'; readonly retryAfterSeconds: number }
  | { readonly page: 'unavailable'; readonly requestId: string };
