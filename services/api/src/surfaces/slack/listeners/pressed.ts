import type { Owner } from '@parley/shared/domain/ids';
import type { BlockAction, ButtonAction, RespondFn } from '@slack/bolt';
import type { ModalView } from '@slack/types';
import type { WebClient } from '@slack/web-api';
import { openAgainMessage } from '../mapping/notice.ts';
import type { SlackMessage } from '../mapping/question.ts';
import type { SlackUser } from '../store/workspace.ts';
import { actorOf } from './actor.ts';
import type { ListenerDeps } from './deps.ts';

const EXPIRED_TRIGGERS = new Set(['expired_trigger_id', 'trigger_expired', 'exchanged_trigger_id']);

/** A button that a linked person has used. */
export interface Pressed {
  readonly body: BlockAction;
  readonly action: ButtonAction;
  readonly client: WebClient;
  readonly respond: RespondFn;
  readonly owner: Owner;
  readonly slackUser: string;
}

/**
 * The person who acts on a message or a form. Whether another company may be in the channel is not known here. Only those
 * are answered who were linked, and a link is given out by a message alone, where it is known.
 */
export function actorIn(
  context: Parameters<typeof actorOf>[0],
  { id, team_id: team }: { readonly id: string; readonly team_id?: string },
): SlackUser | undefined {
  return actorOf(context, id, team, true);
}

/**
 * Opens a modal. Where it cannot be opened, only the person sees a message: with the same button again where its trigger
 * ran out, and with `refused` where Slack does not take the modal.
 */
export async function openModal(
  { onFault }: Pick<ListenerDeps, 'onFault'>,
  { body, action, client, respond }: Pressed,
  view: ModalView,
  refused: SlackMessage,
): Promise<void> {
  try {
    await client.views.open({ trigger_id: body.trigger_id, view });
  } catch (error) {
    const { code, data } = error as { readonly code?: string; readonly data?: { readonly error?: string } };
    if (code === undefined) throw error;
    const isRefused = data?.error !== undefined && !EXPIRED_TRIGGERS.has(data.error);
    if (isRefused) onFault(error);
    const message = isRefused ? refused : openAgainMessage(action.action_id, action.value ?? '');
    await respond({ response_type: 'ephemeral', replace_original: false, ...message });
  }
}

/** Shows a text to the person alone. It is mrkdwn. */
export async function privately(respond: RespondFn, text: string): Promise<void> {
  await respond({ response_type: 'ephemeral', replace_original: false, text });
}
