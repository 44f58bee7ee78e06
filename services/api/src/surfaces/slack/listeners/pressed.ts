import type { Owner } from '@parley/core/domain/ids';
import type { BlockAction, ButtonAction, RespondFn } from '@slack/bolt';
import type { ModalView } from '@slack/types';
import type { WebClient } from '@slack/web-api';
import { openAgainMessage } from '../mapping/notice.ts';
import type { SlackMessage } from '../mapping/question.ts';
import { type ActorContext, actorOf } from './actor.ts';
import type { ListenerDeps } from './deps.ts';

const EXPIRED_TRIGGERS = new Set(['expired_trigger_id', 'trigger_expired', 'exchanged_trigger_id']);

/** A button that a linked person pressed. */
export interface Pressed {
  readonly body: BlockAction;
  readonly action: ButtonAction;
  readonly client: WebClient;
  readonly respond: RespondFn;
  readonly owner: Owner;
  readonly slackUser: string;
}

export interface SlackUserInBody {
  readonly id: string;
  readonly team_id?: string;
}

/**
 * The linked person who acts on a message or a form. It is not known here whether another company is in the channel. That is
 * safe, because only linked people are answered, and links are offered only for messages, for which it is known.
 */
export async function personIn(
  { links }: Pick<ListenerDeps, 'links'>,
  context: ActorContext,
  { id, team_id: team }: SlackUserInBody,
): Promise<Pick<Pressed, 'owner' | 'slackUser'> | undefined> {
  const actor = actorOf(context, id, team, true);
  const owner = actor && (await links.find(actor));
  return actor && owner && { owner, slackUser: actor.userId };
}

/**
 * Opens a modal. If that fails, only the person sees a message: with the same button again if its trigger has expired, or with
 * `refused` if Slack refuses the modal.
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
    await privately(respond, message);
  }
}

/** Shows a message, or a text in mrkdwn, only to the person. */
export async function privately(respond: RespondFn, shown: SlackMessage | string): Promise<void> {
  const message = typeof shown === 'string' ? { text: shown } : shown;
  await respond({ response_type: 'ephemeral', replace_original: false, ...message });
}
