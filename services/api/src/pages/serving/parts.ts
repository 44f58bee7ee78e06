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

/** What the hosted pages need on which people sign in. */
export interface AuthPagesDeps {
  /** Origin under which browsers reach these pages, without a path. */
  readonly publicUrl: string;
  readonly engine: Pick<Engine, 'answer' | 'approvals' | 'complete' | 'openRecords' | 'watchInbox'>;
  readonly elicitations: Pick<Elicitations, 'read'>;
  readonly store: PageStore;
  readonly limits: Limits;
  readonly vault: Pick<Vault, 'read' | 'save' | 'stage' | 'staged' | 'promote' | 'drop' | 'remove'>;
  /** Present where people sign in at a provider. */
  readonly signInAccounts?: SignInAccounts | undefined;
  readonly keys: KeyRing;
  readonly identity: Identity;
  readonly targets: AccountTargets;
  /** What people do on the pages counts as if they answered over /v1. */
  readonly callLimits: Pick<CallLimits, 'call' | 'answer' | 'opening' | 'stream'>;
  /** Origins of pages that get a postMessage when the question has been answered. */
  readonly notifyOrigins: readonly string[];
  /** What all pages show at their top. */
  readonly brand: Brand;
  /** Proxies in front that each add to X-Forwarded-For. */
  readonly proxyHops: number;
  /** Failures of one address in ten minutes. */
  readonly failuresMax: number;
  /** Forms that one address may send in ten minutes. */
  readonly postsMax: number;
  /** `requestId` is the one that pages show to people; absent for what happens by itself. */
  readonly onEvent: (event: AccountEvent, requestId?: string) => void;
}

/** What any hosted page needs of the deployment. */
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

/** What the routes of hosted pages share. */
export interface PageParts extends PageDeps {
  readonly https: boolean;
  readonly cookie: BrowserCookie;
  readonly attempts: Attempts;
}

/** What the routes of the connect page share. */
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
