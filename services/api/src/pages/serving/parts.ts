import { randomUUID } from 'node:crypto';
import type { Engine } from '@parley/shared/elicitations/engine';
import type { Elicitations } from '@parley/shared/ports/elicitations/elicitations';
import type { Limits } from '@parley/shared/ports/limits';
import type { PageStore } from '@parley/shared/ports/page-store';
import type { KeyRing } from '@parley/shared/vault/key-ring';
import type { Vault } from '@parley/shared/vault/vault';
import type { AccountEvent } from '../../accounts/events.ts';
import { createFlows, type Flows } from '../../accounts/flows/flows.ts';
import type { SignInAccounts } from '../../accounts/managed/sign-in-accounts.ts';
import type { AccountTargets } from '../../accounts/targets.ts';
import type { CallLimits } from '../../http/limits/call-limits.ts';
import type { Identity } from '../identity/identity.ts';
import type { Brand } from '../kit/layout.ts';
import { type Attempts, createAttempts } from './attempts.ts';
import { type BrowserCookie, type CookieKind, createBrowserCookie } from './browser.ts';
import { createSessions, type Sessions } from './sessions.ts';

/** The dependencies of the hosted pages with a sign-in. */
export interface AuthPagesDeps {
  /** The origin under which browsers reach these pages. */
  readonly publicUrl: string;
  readonly engine: Pick<Engine, 'answer' | 'approvals' | 'complete' | 'openRecords' | 'watchInbox'>;
  readonly elicitations: Pick<Elicitations, 'read'>;
  readonly store: PageStore;
  readonly limits: Limits;
  readonly vault: Pick<Vault, 'read' | 'save' | 'stage' | 'staged' | 'promote' | 'drop' | 'remove'>;
  /** Present if people sign in at a provider. */
  readonly signInAccounts?: SignInAccounts | undefined;
  readonly keys: KeyRing;
  readonly identity: Identity;
  readonly targets: AccountTargets;
  /** Actions on the pages count against the same limits as answers over /v1. */
  readonly callLimits: Pick<CallLimits, 'call' | 'answer' | 'opening' | 'stream'>;
  /** Origins of pages that receive a postMessage when the question has been answered. */
  readonly notifyOrigins: readonly string[];
  /** The title and logo at the top of all pages. */
  readonly brand: Brand;
  /** The number of proxies in front of the pods that each add to X-Forwarded-For. */
  readonly proxyHops: number;
  /** The maximum number of failures of one address in ten minutes. */
  readonly failuresMax: number;
  /** The maximum number of forms from one address in ten minutes. */
  readonly postsMax: number;
  /** `requestId` is the id that pages show to people; absent for events without a request. */
  readonly onEvent: (event: AccountEvent, requestId?: string) => void;
}

/** The dependencies of every hosted page. */
export type PageDeps = Pick<
  AuthPagesDeps,
  | 'publicUrl'
  | 'store'
  | 'limits'
  | 'notifyOrigins'
  | 'brand'
  | 'proxyHops'
  | 'failuresMax'
  | 'postsMax'
  | 'onEvent'
>;

/** Shared by the routes of hosted pages. */
export interface PageParts extends PageDeps {
  readonly https: boolean;
  readonly cookie: BrowserCookie;
  readonly attempts: Attempts;
}

/** Shared by the routes of the connect page. */
export interface Parts extends AuthPagesDeps, PageParts {
  readonly sessions: Sessions;
  readonly flows: Flows;
}

export function createPageParts<Deps extends PageDeps>(deps: Deps, kind?: CookieKind): Deps & PageParts {
  const https = deps.publicUrl.startsWith('https://');
  return { ...deps, https, cookie: createBrowserCookie({ https }, kind), attempts: createAttempts(deps) };
}

export function createParts(deps: AuthPagesDeps): Parts {
  return {
    ...createPageParts(deps),
    sessions: createSessions(deps.store, deps.signInAccounts?.signedOut),
    flows: createFlows({ store: deps.store, keys: deps.keys, mintTaker: randomUUID }),
  };
}
