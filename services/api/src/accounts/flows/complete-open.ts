import { isParleyError } from '@parley/core/domain/errors';
import type { CredentialRef } from '@parley/shared/domain/credential';
import type { Row } from '@parley/shared/domain/elicitations/row';
import { missingScopes } from '@parley/shared/domain/oauth/scopes';
import type { Engine } from '@parley/shared/elicitations/engine';
import { openPages } from '@parley/shared/elicitations/open-pages';
import type { Vault } from '@parley/shared/vault/vault';
import { isOnOurPage, scopeOf } from '../own-pages.ts';
import { readHeld } from './held.ts';

interface CompleteOpenDeps {
  readonly engine: Pick<Engine, 'complete' | 'openRecords'>;
  readonly vault: Pick<Vault, 'read'>;
  /** Origin of the connect pages. */
  readonly publicUrl: string;
}

/** The surface recorded for answers given on the connect pages. */
export const CONNECT_SURFACE = 'connect';

/**
 * Completes the owner's open questions on Parley's connect page that ask for this account, in every conversation. Does nothing
 * while the account cannot be used. Throws `unavailable`. Can be repeated.
 */
export async function completeOpen(deps: CompleteOpenDeps, ref: CredentialRef): Promise<void> {
  const held = await readHeld(deps, ref);
  if (held?.state !== 'usable') return;
  const credential = held.credential.reveal();
  const granted = credential.kind === 'oauth2' ? (credential.scope ?? '') : '';
  const { tenant, userId, toolId } = ref;
  const isForAccount = (row: Row) =>
    row.definition.context.toolId === toolId &&
    isOnOurPage(deps.publicUrl, row) &&
    // A question for more scopes stays open until the account has them.
    missingScopes(granted, scopeOf(row) ?? '').length === 0;
  const pages = openPages((request) => deps.engine.openRecords(request), { owner: { tenant, userId } });
  for await (const { records } of pages) {
    const rows = records.flatMap((record) => (record.family === 'elicitation' ? [record.row] : []));
    await Promise.all(rows.filter(isForAccount).map(({ id }) => complete(deps, tenant, id)));
  }
}

/** Completes a question. A question that has already ended is not changed. */
async function complete({ engine }: CompleteOpenDeps, tenant: string, id: string): Promise<void> {
  try {
    await engine.complete({ caller: { kind: 'service', tenant }, id, surface: CONNECT_SURFACE });
  } catch (error) {
    if (!isParleyError(error) || error.code === 'unavailable') throw error;
  }
}
