/** Begins turns for messages in Slack. Texts that answer a question are handled in `typed.ts`. */

import { isParleyError } from '@parley/core/domain/errors';
import { keyedStreamRequestId, type Owner } from '@parley/core/domain/ids';
import type { App } from '@slack/bolt';
import type { WebClient } from '@slack/web-api';
import { startTurn } from '../../../turns/start.ts';
import type { BegunTurn } from '../../../turns/turns.ts';
import { turnTask } from '../delivery/turn.ts';
import { section } from '../mapping/blocks.ts';
import { type Incoming, receptionOf } from '../mapping/incoming.ts';
import { connectMessage } from '../mapping/notice.ts';
import type { SlackMessage } from '../mapping/question.ts';
import { escaped } from '../mapping/text.ts';
import type { SlackThread } from '../store/threads.ts';
import { actorOf } from './actor.ts';
import { callerOf, type ListenerDeps } from './deps.ts';
import { readMessage } from './read.ts';
import { takeTyped } from './typed.ts';

/** The envelope of an event. */
interface EventEnvelope {
  readonly event_id: string;
  /** True in a channel shared with another company; absent if that is unknown. */
  readonly is_ext_shared_channel?: boolean;
}

const REFUSED_MS = 60_000;
/** How long an event may be repeated. Slack sends an event again for at most a day. */
const REPEATED_MS = 24 * 3_600_000;

/** Begins a turn for a direct message or a mention, as the person who wrote it. */
export function listenToMessages(app: App, deps: ListenerDeps): void {
  app.event('app_mention', async ({ event, body, context, client }) => {
    await take(deps, event as Incoming, { body, context, client });
  });
  app.event('message', async ({ event, body, context, client }) => {
    const message = event as Incoming;
    // In channels, Slack reports mentions as separate events.
    if (message.channel_type === 'im') await take(deps, message, { body, context, client });
  });
}

interface ReportedEvent {
  readonly body: EventEnvelope;
  readonly context: Parameters<typeof actorOf>[0] & { readonly botUserId?: string };
  readonly client: WebClient;
}

async function take(
  deps: ListenerDeps,
  message: Incoming,
  { body: envelope, context, client }: ReportedEvent,
): Promise<void> {
  const isWithinCompany = envelope.is_ext_shared_channel === false;
  const user = actorOf(context, message.user, message.user_team ?? message.team, isWithinCompany);
  if (user === undefined || receptionOf(message) === 'ignored') return;
  if (!(await isFirstReport(deps, message, envelope))) return;
  const thread = message.thread_ts ?? message.ts;
  const place: SlackThread = {
    ...user,
    channel: message.channel,
    thread,
    isPrivate: message.channel.startsWith('D'),
  };
  const owner = await deps.links.find(user);
  if (owner === undefined) {
    await tell(client, place, connectMessage(await deps.linkAddress(user)));
    return;
  }
  const read = await readMessage(deps.names, { ...user, client }, message, context.botUserId);
  if ('refusal' in read) {
    await tell(client, place, sentence(read.refusal));
    return;
  }
  const conversationId = `slack.${user.teamId}.${message.channel}.${thread}`;
  if (message.thread_ts !== undefined) {
    const typed = { owner, place: { ...place, thread }, conversationId, ts: message.ts, words: read.typed };
    const taken = await takeTyped(deps, typed);
    const reply = taken?.reply ?? (taken && read.notice !== undefined ? sentence(read.notice) : undefined);
    if (reply !== undefined) await tell(client, place, reply);
    if (taken !== undefined) return;
  }
  const said = await begin(deps, { ...read, owner, place, conversationId }, envelope.event_id);
  if (said !== undefined) await tell(client, place, sentence(said));
}

interface NewTurn {
  readonly owner: Owner;
  readonly place: SlackThread;
  readonly conversationId: string;
  readonly text: string;
  /** A text for the person about the message, sent once. */
  readonly notice: string | undefined;
}

/** Begins a turn. Returns the text for the person: why no turn begins, or a notice about the new turn. */
async function begin(
  deps: ListenerDeps,
  { owner, place, conversationId, text, notice }: NewTurn,
  eventId: string,
): Promise<string | undefined> {
  // The key contains the event's id, so a repeated event finds the turn that it began.
  const idempotencyKey = `slack-${eventId}`;
  const stream = { ...owner, streamRequestId: await keyedStreamRequestId(owner, idempotencyKey) };
  const followFor = (keptMs: number) => deps.follow(stream, { ...place, conversationId }, keptMs);
  // The turn is followed before it begins, so that nothing is missed. A refused message leaves this record only briefly.
  await followFor(REFUSED_MS);
  const caller = callerOf(owner);
  let run: BegunTurn | undefined;
  try {
    ({ run } = await startTurn(deps.turns, {
      caller,
      conversationId,
      messages: [{ role: 'user', content: text }],
      agent: deps.settings.agent,
      support: { form: true, url: true, sensitiveForms: false },
      delivery: 'detach',
      idempotencyKey,
      draining: deps.isDraining(),
      admitted: deps.limits.call(caller, true),
    }));
  } catch (error) {
    // The error makes Slack send the event again.
    if (!isParleyError(error) || error.code === 'unavailable') throw error;
    // The event has already begun a turn. Its text differed, because Slack did not report the same names.
    if (error.code !== 'idempotency_mismatch') return refusalText(error.code, error.message);
  }
  await followFor(deps.keptMs);
  await deps.outbox.add(turnTask(stream), stream.tenant);
  deps.nudge();
  return run?.isRepeat === false ? notice : undefined;
}

/**
 * False for a message that another event already reported. Slack sends a mention in a direct message both as `message` and as
 * `app_mention`. A repeated event counts as the same report.
 */
async function isFirstReport(
  { claims }: ListenerDeps,
  { channel, ts }: Incoming,
  { event_id: event }: EventEnvelope,
): Promise<boolean> {
  const name = { family: 'slack', tenant: '', name: `message/${channel}/${ts}` } as const;
  return (await claims.claim(name, event, REPEATED_MS)) === event;
}

function refusalText(code: string, message: string): string {
  return code === 'turn_running'
    ? 'I am still working on your last message in this thread. Stop it, or wait for its end.'
    : message;
}

function sentence(text: string): SlackMessage {
  return { text: escaped(text), blocks: [section(text)] };
}

/** Tells only the person. A lost message is not repeated, because the person will write again. */
async function tell(client: WebClient, place: SlackThread, message: SlackMessage): Promise<void> {
  const { channel, thread, userId } = place;
  const at = { channel, ...(thread !== undefined && { thread_ts: thread }) };
  const sent = place.isPrivate
    ? client.chat.postMessage({ ...at, ...message, unfurl_links: false })
    : client.chat.postEphemeral({ ...at, ...message, user: userId });
  await sent.catch(() => undefined);
}
