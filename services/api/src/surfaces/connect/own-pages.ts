import type { Row } from '@parley/shared/domain/elicitations/row';

/** The path of a question's page. */
export function connectPath(elicitationId: string): string {
  return `/auth/connect/${elicitationId}`;
}

/** True for a question that is asked on our connect page. Its asker's own page may be completed by the server as well. */
export function isOnOurPage(publicUrl: string, { id, definition }: Row): boolean {
  const { mode, completion, url } = definition;
  return mode === 'url' && completion === 'server' && url === `${publicUrl}${connectPath(id)}`;
}
