import type { Owner } from '@parley/core/domain/ids';
import type { CredentialRef, OAuthCredential, Presentation } from '@parley/shared/domain/credential';
import type { Engine } from '@parley/shared/elicitations/engine';
import { openPages } from '@parley/shared/elicitations/open-pages';
import { isOnOurPage } from '../own-pages.ts';
import type { AccountTargets } from '../targets.ts';
import type { SignIns } from './sign-ins.ts';

/** The effects of a company sign-in on the accounts that it connects. Both methods throw `unavailable`. */
export interface SignInAccounts {
  /** Stores the sign-in, and connects the accounts for which open questions ask. */
  signedIn(owner: Owner, signIn: OAuthCredential): Promise<void>;
  /** Ends the sign-in, and deletes the tokens that it obtained. */
  signedOut(owner: Owner): Promise<void>;
}

interface SignInAccountsDeps {
  readonly signIns: Pick<SignIns, 'save' | 'end'>;
  readonly engine: Pick<Engine, 'openRecords'>;
  readonly targets: Pick<AccountTargets, 'credentials'>;
  readonly credentials: {
    present(ref: CredentialRef): Promise<Presentation>;
    completeOpen(ref: CredentialRef): Promise<void>;
  };
  /** Origin of the connect pages. */
  readonly publicUrl: string;
}

/** Connects the accounts for which open questions ask, so that signing in answers these questions. */
export function createSignInAccounts(deps: SignInAccountsDeps): SignInAccounts {
  const { signIns, targets, credentials } = deps;

  async function connect({ tenant, userId }: Owner, toolId: string): Promise<void> {
    const target = targets.credentials().find((one) => one.toolId === toolId);
    if (target?.connector.obtainFor === undefined) return;
    const ref = { tenant, userId, toolId, connectorId: target.connector.id };
    if ((await credentials.present(ref)).type === 'presented') await credentials.completeOpen(ref);
  }

  return {
    async signedIn(owner, signIn) {
      await signIns.save(owner, signIn);
      const asked = await askedTools(deps, owner);
      await Promise.all([...asked].map((toolId) => connect(owner, toolId)));
    },
    signedOut: ({ tenant, userId }) => signIns.end({ tenant, userId }),
  };
}

/** The tools for whose accounts Parley's pages ask the person at present. */
async function askedTools(
  { engine, publicUrl }: SignInAccountsDeps,
  { tenant, userId }: Owner,
): Promise<ReadonlySet<string>> {
  const asked = new Set<string>();
  for await (const { records } of openPages((request) => engine.openRecords(request), {
    owner: { tenant, userId },
  })) {
    for (const record of records) {
      if (record.family !== 'elicitation' || !isOnOurPage(publicUrl, record.row)) continue;
      const { toolId } = record.row.definition.context;
      if (toolId !== undefined) asked.add(toolId);
    }
  }
  return asked;
}
