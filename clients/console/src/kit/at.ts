import type { AdminApi } from '../api/client.ts';
import type { LiveChanges } from '../api/live.ts';
import type { ConsoleSession, OperatorRole } from '../api/session.ts';
import type { ConsoleStrings } from '../strings/en.ts';

/** What the shell provides to every page. */
export interface PageContext {
  readonly api: AdminApi;
  readonly live: LiveChanges;
  readonly session: ConsoleSession;
  readonly tenant: string;
  readonly roles: readonly OperatorRole[];
  readonly words: ConsoleStrings;
  /** Shows another place. With `replace`, it replaces the current one in the browser's history. */
  go(href: string, how?: { readonly replace?: boolean }): void;
  /** Announces what was done, visibly and to screen readers. */
  say(sentence: string): void;
}

/** Whether the operator may change things in this tenant. */
export function mayAct({ roles }: Pick<PageContext, 'roles'>): boolean {
  return roles.includes('operator');
}

/** Whether the operator may see what people and models wrote. */
export function mayRead({ roles }: Pick<PageContext, 'roles'>): boolean {
  return roles.includes('reader');
}
