import { isApprovalId } from '@parley/core/domain/ids';
import type { Row } from '@parley/shared/domain/elicitations/row';

/** The path of a question's connect page. */
export function connectPath(elicitationId: string): string {
  return `/auth/connect/${elicitationId}`;
}

/** The path of the document that describes Parley as a client to authorization servers. */
export function clientMetadataPath(connectorId: string): string {
  return `/auth/client-metadata/${connectorId}`;
}

/** The path of the page on which people see their accounts. */
export const ACCOUNTS_PATH = '/auth/accounts';

/** The path of the page on which people see everything that waits for them. */
export const INBOX_PATH = '/auth/inbox';

/**
 * A parameter in the address of an approval's page: the person came from the inbox, and continues there with the next record.
 */
export const FROM_INBOX = 'inbox';

/** A parameter with which an open page fetches itself again, to show what has changed. */
export const LIVE = 'live';

/** The surface recorded on the wire for what a signed-in person settles on a hosted page. */
export const ANSWER_PAGE_SURFACE = 'answer-page';

/** The path of the page on which equal calls are decided together. */
export function groupPath(groupId: string): string {
  return `${INBOX_PATH}/groups/${groupId}`;
}

/** The path of the page on which a question is answered, or an approval is decided. */
export function answerPath(elicitationId: string): string {
  return `/auth/answer/${elicitationId}`;
}

/** The path of the page that links an account of another service. */
export function linkPath(token: string): string {
  return `/auth/link/${token}`;
}

/**
 * A page for a signed-in person: about a question or approval, a link (its token is the id), their accounts or their inbox. A
 * sign-in returns to this page.
 */
export type OwnPage =
  | { readonly about: 'connect' | 'answer' | 'link'; readonly elicitationId: string }
  | PersonPage;

/** A page about a person, not about one record. */
export interface PersonPage {
  readonly about: 'accounts' | 'inbox';
}

export const ACCOUNTS_PAGE: PersonPage = { about: 'accounts' };
export const INBOX_PAGE: PersonPage = { about: 'inbox' };

export function pathOf(page: OwnPage): string {
  switch (page.about) {
    case 'connect':
      return connectPath(page.elicitationId);
    case 'answer':
      return answerPath(page.elicitationId);
    case 'link':
      return linkPath(page.elicitationId);
    case 'accounts':
      return ACCOUNTS_PATH;
    case 'inbox':
      return INBOX_PATH;
  }
}

/** True for the page of an approval, which determines the owner itself. */
export function isOfApproval(page: OwnPage): boolean {
  return page.about === 'answer' && isApprovalId(page.elicitationId);
}

/** True for a question that is asked on Parley's connect page. An asker's own page may also have server completion. */
export function isOnOurPage(publicUrl: string, { id, definition }: Row): boolean {
  const { mode, completion, url } = definition;
  return mode === 'url' && completion === 'server' && url === `${publicUrl}${connectPath(id)}`;
}

/** The scopes that a question requests in addition to its connector's defaults, separated by spaces. */
export function scopeOf({ definition }: Pick<Row, 'definition'>): string | undefined {
  const { requiredScope } = definition.context;
  return typeof requiredScope === 'string' && requiredScope !== '' ? requiredScope : undefined;
}
