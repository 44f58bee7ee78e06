import type { AskInput } from '@parley/core/domain/elicitations/ask-input';
import { headingOf } from '../../harness/pages/browser.ts';
import { ADA, type World } from '../../harness/pages/setup.ts';

/** What the question of the answer pages says. */
export const MESSAGE = 'Which seat do you want on flight 12?';

/** The page that leads to the question. */
export const ENTRY = headingOf({ page: 'answer-entry', enter: { action: '/', csrf: '' } });

export interface SeatOptions {
  readonly requestedSchema: AskInput['requestedSchema'];
  /** True where the question may be answered on its page by its signed-in owner. */
  readonly onAnswerPage?: boolean;
}

/** Asks Ada about her seat: in a form, or as `more` says. */
export async function askAboutSeat(here: World, options: SeatOptions, more: Partial<AskInput> = {}) {
  const isForm = more.mode !== 'url';
  const { row } = await here.engine.ask({
    tenant: ADA.tenant,
    input: {
      userId: ADA.userId,
      mode: 'form',
      message: MESSAGE,
      ...(isForm && { requestedSchema: options.requestedSchema }),
      context: { trigger: 'agent' },
      timeoutSeconds: 600,
      ...more,
    } as AskInput,
    ...(isForm && options.onAnswerPage === true && { onAnswerPage: true }),
  });
  return { id: row.id, path: `/auth/answer/${row.id}` };
}

/** Makes a link to a question or an approval with a key that may; `body` as the call takes it. */
export async function callAnswerLink(
  { publicUrl }: World,
  id: string,
  {
    method = 'POST',
    body,
    key = 'a-linking-key',
  }: { method?: 'POST' | 'DELETE'; body?: object; key?: string } = {},
) {
  const response = await fetch(
    `${publicUrl}/v1/${id.startsWith('ap_') ? 'approvals' : 'elicitations'}/${id}/answer-link`,
    {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    },
  );
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

/** The token of a new link. */
export async function issueLink(
  here: World,
  id: string,
  body?: object,
): Promise<{ url: string; token: string }> {
  const { body: link } = await callAnswerLink(here, id, body === undefined ? {} : { body });
  const url = String(link.url);
  return { url, token: new URL(url).hash.slice(1) };
}
