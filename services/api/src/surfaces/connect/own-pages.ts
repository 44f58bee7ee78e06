import type { Row } from '@parley/shared/domain/elicitations/row';

/** The path of a question's page. */
export function connectPath(elicitationId: string): string {
  return `/auth/connect/${elicitationId}`;
}

/** The path of the page on which people see their accounts. */
export const ACCOUNTS_PATH = '/auth/accounts';

/** The page that a sign-in leads to: that of a question, or without one the accounts. */
export function pathAfterSignIn(elicitationId: string): string {
  return elicitationId === '' ? ACCOUNTS_PATH : connectPath(elicitationId);
}

/** True for a question that is asked on our connect page. Its asker's own page may be completed by the server as well. */
export function isOnOurPage(publicUrl: string, { id, definition }: Row): boolean {
  const { mode, completion, url } = definition;
  return mode === 'url' && completion === 'server' && url === `${publicUrl}${connectPath(id)}`;
}
