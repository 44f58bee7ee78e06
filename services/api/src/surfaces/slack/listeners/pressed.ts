import type { Owner } from '@parley/shared/domain/ids';
import type { BlockAction, ButtonAction, RespondFn } from '@slack/bolt';
import type { ModalView } from '@slack/types';
import type { WebClient } from '@slack/web-api';
import { openAgainMessage } from '../mapping/notice.ts';
import type { SlackUser } from '../store/workspace.ts';
import { actorOf } from './actor.ts';

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

/** Opens a modal. Where its trigger ran out, a message that only the person sees has the same button again. */
export async function openModal({ body, action, client, respond }: Pressed, view: ModalView): Promise<void> {
  try {
    await client.views.open({ trigger_id: body.trigger_id, view });
  } catch (error) {
    const { code, data } = error as { readonly code?: string; readonly data?: { readonly error?: string } };
    if (code === undefined || (data?.error !== undefined && !EXPIRED_TRIGGERS.has(data.error))) throw error;
    const again = openAgainMessage(action.action_id, action.value ?? '');
    await respond({ response_type: 'ephemeral', replace_original: false, ...again });
  }
}

/** Shows a text to the person alone. It is mrkdwn. */
export async function privately(respond: RespondFn, text: string): Promise<void> {
  await respond({ response_type: 'ephemeral', replace_original: false, text });
}
