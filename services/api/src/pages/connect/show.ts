import { askerOf } from '@parley/core/domain/elicitations/asker';
import { bucketOfElicitationId } from '@parley/core/domain/ids';
import type { SecretForm } from '../../accounts/connector.ts';
import { connectPath, scopeOf } from '../../accounts/own-pages.ts';
import { type Admitted, admit } from '../serving/access.ts';
import type { Parts } from '../serving/parts.ts';
import { buildFormTarget, type PageReply, page, single, type Visit } from '../serving/visit.ts';
import type { Asking, PageView } from '../views/view.ts';
import { isWaiting } from './waiting.ts';

/** `GET /auth/connect?elicitationId=`: redirects to the page's own address, without any other parameter. */
export async function showAlias(_parts: Parts, { query }: Visit): Promise<PageReply> {
  const id = single(query, 'elicitationId') ?? '';
  return bucketOfElicitationId(id) === undefined
    ? page({ page: 'not-found' })
    : { type: 'moved', path: connectPath(id) };
}

/**
 * `GET /auth/connect/:id`: shows what is asked, before anything happens. It only reads, because mail scanners open links too.
 */
export async function showConnect(parts: Parts, visit: Visit): Promise<PageReply> {
  const admitted = await admit(parts, visit, visit.param);
  if (admitted.type === 'shown') return page(admitted.view);
  if (await isWaiting(parts, visit, admitted)) {
    return page({ page: 'waiting', again: `${connectPath(visit.param)}/waiting?look=1` });
  }
  return page(await askingView(visit, admitted));
}

/** The page that asks for consent, or for a key. */
async function askingView(visit: Visit, admitted: Admitted): Promise<PageView> {
  const { connector } = admitted.target;
  if (connector.kind === 'api_key') {
    const form = await secretFormOf(admitted);
    return form === undefined
      ? { page: 'unavailable', requestId: visit.requestId }
      : secretView(visit, admitted, form);
  }
  const { row, person } = admitted;
  const { origin, scopes } = await connector.describe({ scope: scopeOf(row) });
  return {
    page: 'consent',
    asking: askingOf(admitted),
    ...(person !== undefined && { person: person.name }),
    ...(origin !== undefined && { origin }),
    scopes,
    proceed: buildFormTarget(visit.browser, `${connectPath(row.id)}/start`),
    decline: buildFormTarget(visit.browser, `${connectPath(row.id)}/decline`),
  };
}

/** The form of a connector whose secret is typed; undefined for others. It calls `begin`, so it is only for `api_key`. */
export async function secretFormOf({ row, owner, target }: Admitted): Promise<SecretForm | undefined> {
  const begun = await target.connector.begin({ flowId: row.id, tenant: owner.tenant });
  return begun.type === 'form' ? begun : undefined;
}

/** The page with one field for a secret. */
export function secretView(
  { browser }: Visit,
  admitted: Admitted,
  { field }: SecretForm,
  fault?: 'empty' | 'rejected' | 'unavailable',
): PageView {
  const { row, person, target } = admitted;
  const onceFor = target.kind === 'secret' ? takerOf(admitted) : undefined;
  return {
    page: 'secret',
    asking: askingOf(admitted),
    ...(person !== undefined && { person: person.name }),
    field: onceFor === undefined ? field : { ...field, label: row.definition.title ?? onceFor },
    ...(onceFor !== undefined && { onceFor }),
    ...(fault !== undefined && { fault }),
    proceed: buildFormTarget(browser, `${connectPath(row.id)}/secret`),
    decline: buildFormTarget(browser, `${connectPath(row.id)}/decline`),
  };
}

function askingOf(admitted: Admitted): Asking {
  const { row, target } = admitted;
  const service = target.kind === 'secret' ? takerOf(admitted) : target.service;
  return {
    agent: askerOf(row.definition),
    service,
    message: row.definition.message,
  };
}

/** The tool that may use a secret, by its title. */
function takerOf({ row }: Admitted): string {
  const { onceFor, toolName = '' } = row.definition.context;
  return typeof onceFor === 'string' && onceFor !== '' ? onceFor : toolName;
}
