import type { KnownBlock } from '@slack/types';
import { context } from './blocks.ts';
import { dateText } from './text.ts';

/** The names of surfaces in the states of questions and approvals. */

const SURFACES: Readonly<Record<string, string>> = {
  slack: 'in Slack',
  chat: 'in the chat',
  connect: 'on its page',
  page: 'on its page',
  link: 'by an answer link',
  mcp: 'in another application',
};
const MARKS: Readonly<Record<string, string>> = {
  accepted: '✓',
  approved: '✓',
  edited: '✓',
  declined: '✕',
  cancelled: '✕',
  denied: '✕',
  expired: '⌛',
};

/** Who settled a record, and where, in a few words. */
export function settledBy(
  user: string,
  settlement: { readonly surface?: string | undefined } | undefined,
): string {
  return `by <@${user}> ${SURFACES[settlement?.surface ?? ''] ?? 'in another application'}`;
}

/** A status that questions and approvals share, in a few words. */
export function otherStateText(
  status: string,
  settlement: { readonly reason?: string | undefined } | undefined,
): string {
  if (status !== 'withdrawn') return 'Over';
  return settlement?.reason === 'run_stopped' ? 'Stopped' : 'No longer needed';
}

/** The last line of a record that has ended. */
export function endedBlock(status: string, text: string): KnownBlock {
  return context(`${MARKS[status] ?? '–'} *${text}*`);
}

/** For whom a record is open, and until when. */
export function openText(user: string, expiresAt: number): string {
  return `For <@${user}>. Open until ${dateText(expiresAt)}.`;
}
