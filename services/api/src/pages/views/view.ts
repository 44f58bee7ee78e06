/** Every hosted page as plain data, without markup or text. Drawing is in the templates, deciding in the handlers. */

import type { ApprovalTool, RememberFor } from '@parley/core/domain/approvals/approval';
import type { Risk } from '@parley/core/domain/approvals/risk';
import type { EndedApprovalStatus } from '@parley/core/domain/approvals/status';
import type { StoredAccount } from '../../accounts/account-state.ts';
import type { FailureCode } from '../../accounts/connector.ts';
import type { FormTarget } from '../kit/fields.ts';
import type { ShownField } from './answer/controls.ts';
import type { AnsweredAs } from './answer/strings.ts';
import type { GroupView, ShownGrant, ShownWaiting } from './inbox/view.ts';

/** Who asks and for what, in words that the person knows. All of it is plain text, which pages escape. */
export interface Asking {
  /** The title of the asking agent. Absent if the question names none: then the service behind the chat asks. */
  readonly agent?: string | undefined;
  /** The title of the service that the tool uses. */
  readonly service: string;
  /** The message of the question. */
  readonly message: string;
}

/** The page to which a person who signs in is led. */
type LeadsTo = 'console' | 'accounts' | 'inbox' | 'answer' | 'approval' | 'link';

/** A connected account, as its person sees it. */
export interface ShownAccount extends StoredAccount {
  readonly service: string;
  /** Path of the page that asks to confirm. */
  readonly disconnect: string;
}

/** The service's reaction to an access that was deleted here. */
export type DisconnectedAs = 'revoked' | 'unsupported' | 'unavailable';

/** A hosted page, as data. */
export type PageView =
  /** The person has to sign in first. The page explains why, and leads to the deployer's sign-in. */
  | {
      readonly page: 'sign-in';
      readonly signIn: FormTarget;
      readonly organisation: string;
      /** The page to which the sign-in leads; absent for a question's connect page. */
      readonly leadsTo?: LeadsTo;
    }
  /** Development only: the person types a user id. */
  | {
      readonly page: 'dev-sign-in';
      readonly signIn: FormTarget;
      readonly leadsTo?: LeadsTo;
    }
  /** A person signed in without a role in the console. */
  | { readonly page: 'no-role'; readonly person: string; readonly signIn: FormTarget }
  /** The connected accounts of a person. */
  | {
      readonly page: 'accounts';
      readonly person: string;
      readonly accounts: readonly ShownAccount[];
      readonly signOut: FormTarget;
    }
  /** Everything that waits for a person, and what they have set up. */
  | {
      readonly page: 'inbox';
      readonly person: string;
      readonly waiting: readonly ShownWaiting[];
      /** Present if there are more items than the page shows. */
      readonly hasOlder?: true;
      readonly remembered: readonly ShownGrant[];
      readonly accounts: readonly ShownAccount[];
      readonly signOut: FormTarget;
    }
  | GroupView
  /** Some of the calls that were decided together had already ended. */
  | {
      readonly page: 'group-partly';
      /** How many of the chosen calls were decided. */
      readonly recorded: number;
      readonly chosen: number;
    }
  /** Nobody signs in on this deployment's pages. */
  | { readonly page: 'inbox-elsewhere' }
  /** Asks for confirmation. */
  | {
      readonly page: 'disconnect';
      readonly service: string;
      readonly person: string;
      readonly proceed: FormTarget;
    }
  /** The account is disconnected. `revoked` is the service's reaction; absent if nothing was stored any more. */
  | { readonly page: 'disconnected'; readonly service: string; readonly revoked?: DisconnectedAs }
  /** Nobody signs in on this deployment's pages. */
  | { readonly page: 'accounts-elsewhere' }
  /** An account of another service that is to be linked to the signed-in person. */
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
  /** Announces what will happen. `decline` and `proceed` are posts. */
  | {
      readonly page: 'consent';
      readonly asking: Asking;
      /** The signed-in person's name; absent with session binding, where the person is identified later. */
      readonly person?: string;
      /** The origin to which the person will be sent; absent if it cannot be known now. */
      readonly origin?: string;
      readonly scopes: readonly string[];
      readonly proceed: FormTarget;
      readonly decline: FormTarget;
    }
  /** Asks for one secret: an API key of a connector, or a secret that an agent requested. */
  | {
      readonly page: 'secret';
      readonly asking: Asking;
      readonly person?: string;
      readonly field: { readonly label: string; readonly help?: string; readonly lengthMax: number };
      /** Why the typed text was not accepted. It is never shown again. */
      readonly fault?: 'empty' | 'rejected' | 'unavailable';
      /** The tool that may use the secret once; absent for a credential that is stored. */
      readonly onceFor?: string;
      readonly proceed: FormTarget;
      readonly decline: FormTarget;
    }
  /** An answer link was opened; the browser still holds its token. */
  | {
      readonly page: 'answer-entry';
      readonly enter: FormTarget;
      readonly about?: 'approval';
      /** Path of the same page for the owner, who signs in; absent if people cannot sign in. */
      readonly signInPath?: string;
    }
  /** A question that is answered here. `proceed` and `decline` are posts. */
  | {
      readonly page: 'answer';
      readonly asking: Pick<Asking, 'agent' | 'message'>;
      readonly title?: string;
      readonly description?: string;
      /** The signed-in owner's name; absent for a browser that came through a link. */
      readonly person?: string;
      readonly risk?: Risk;
      readonly fields: readonly ShownField[];
      /** The origin of a question's own address. */
      readonly origin?: string;
      /** Time until the deadline, in ms. */
      readonly leftMs: number;
      readonly proceed: FormTarget;
      readonly decline: FormTarget;
    }
  /**
   * How a question ended that is answered here. `late`: an answer from here came afterwards and was not recorded. `toInbox`:
   * the page links to the person's inbox.
   */
  | {
      readonly page: 'answer-ended';
      readonly ended: AnsweredAs;
      readonly late?: true;
      readonly toInbox?: true;
    }
  /** An answer link that no longer opens: it is too old, was revoked, or was used by another browser. */
  | { readonly page: 'answer-spent' }
  /** A call that waits for its person's decision. `approve` and `deny` are posts. */
  | {
      readonly page: 'approval';
      readonly agent: string;
      readonly tool: Pick<ApprovalTool, 'server' | 'name' | 'hints'> & { readonly title: string };
      readonly arguments: Readonly<Record<string, unknown>>;
      /** JSON pointers of the values that are masked. */
      readonly masked: readonly string[];
      /** The signed-in person's name; absent for a browser that came through a link. */
      readonly person?: string;
      readonly remember?: RememberFor;
      readonly risk?: Risk;
      /** Present if the arguments can be edited elsewhere. */
      readonly canEdit?: true;
      /** The reason of a denial that was not accepted. */
      readonly reason?: string;
      readonly leftMs: number;
      readonly approve: FormTarget;
      readonly deny: FormTarget;
    }
  /** How a call ended. `late`: a decision from here came afterwards and was not recorded. */
  | {
      readonly page: 'approval-ended';
      readonly ended: EndedApprovalStatus;
      readonly late?: true;
      readonly toInbox?: true;
    }
  /** The browser goes to another origin. The page has a link, and a refresh follows it automatically. */
  | { readonly page: 'continue'; readonly url: string; readonly origin: string }
  /** The page waits for the provider's report and reloads periodically. `again` is a path. */
  | { readonly page: 'waiting'; readonly again: string }
  /** The account is connected. `kept`: the question had already ended, so the credential is kept for the next one. */
  | {
      readonly page: 'done';
      readonly service?: string;
      readonly kept?: true;
      /** Scopes that were requested and not granted. */
      readonly withheldScopes?: readonly string[];
      /** Present if there is a page with the person's accounts. */
      readonly hasAccountsPage?: true;
      /** Id of the elicitation, sent as a hint to the page that opened this one. */
      readonly elicitationId?: string;
      /** Origins of pages that receive the hint. */
      readonly tell?: readonly string[];
    }
  | { readonly page: 'declined' }
  | { readonly page: 'expired' }
  /** The question ended in another way: withdrawn, cancelled, or answered before. */
  | { readonly page: 'settled' }
  /**
   * A person other than the owner is signed in. The page does not reveal the owner of the link. `signOut` leads to a sign-in as
   * another person.
   */
  | { readonly page: 'mismatch'; readonly about?: 'answer'; readonly signOut?: FormTarget }
  /** The link does not exist, or is not for the signed-in person, whom `signOut` signs out. */
  | { readonly page: 'not-found'; readonly signOut?: FormTarget }
  /** Nothing was connected, and the question is still open. `retry` is a path. */
  | {
      readonly page: 'failed';
      readonly reason: FailureCode | 'sign-in';
      readonly retry?: string;
      readonly providerError?: string;
      /** For support: the id of the request in the log. */
      readonly requestId: string;
    }
  /** A form came without its token or from another origin. `retry` is a path. */
  | { readonly page: 'refused'; readonly retry?: string }
  | { readonly page: 'too-many'; readonly retryAfterSeconds: number }
  | { readonly page: 'unavailable'; readonly requestId: string };
