import { randomUUID } from 'node:crypto';
import type { KeyRing } from '@parley/shared/vault/key-ring';
import { createFlows, type Flows } from '../../accounts/flows/flows.ts';
import type { CookieKind } from '../serving/browser.ts';
import { createPageParts, type PageDeps, type PageParts } from '../serving/parts.ts';
import type { ConsoleFiles } from './files.ts';
import type { OperatorIdentity } from './identity.ts';
import { type ConsoleSessions, createConsoleSessions } from './sessions.ts';

/** The dependencies of the console. */
export interface ConsoleDeps extends PageDeps {
  /** Undefined if the console was not built. */
  readonly files: ConsoleFiles | undefined;
  readonly identity: OperatorIdentity;
  /** The keys that seal the state of a sign-in. */
  readonly keys: KeyRing;
  readonly idleMs: number;
  readonly sessionMs: number;
  /** Called for each sign-in and sign-out. `requestId` is the id that the page shows. */
  readonly onSession: (change: SessionChange, requestId: string) => void;
}

/** A sign-in or sign-out, for the log. */
export interface SessionChange {
  readonly change: 'signed-in' | 'signed-out' | 'no-role';
  readonly operator: string;
  /** The tenants in which the operator has a role. */
  readonly tenants: readonly string[];
}

/** Shared by the console's routes. */
export interface ConsoleParts extends ConsoleDeps, PageParts {
  readonly sessions: ConsoleSessions;
  readonly flows: Flows;
}

export function createConsoleParts(deps: ConsoleDeps): ConsoleParts {
  const kind: CookieKind = { name: 'parley-console', maxAgeSeconds: Math.ceil(deps.sessionMs / 1_000) };
  return {
    ...createPageParts(deps, kind),
    sessions: createConsoleSessions(deps),
    flows: createFlows({ store: deps.store, keys: deps.keys, mintTaker: randomUUID }),
  };
}
