import { isParleyError } from '@parley/shared/domain/errors';
import { keyedStreamRequestId } from '@parley/shared/domain/ids';
import type { App } from '@slack/bolt';
import type { WebClient } from '@slack/web-api';
import { startTurn } from '../../../turns/start.ts';
import { turnTask } from '../delivery/turn.ts';
import { section } from '../mapping/blocks.ts';
import { connectMessage } from '../mapping/notice.ts';
import type { SlackMessage } from '../mapping/question.ts';
import type { SlackThread } from '../store/threads.ts';
import { actorOf } from './actor.ts';
import { callerOf, type ListenerDeps } from './deps.ts';

/** A message to the app, as Slack reports it. */
interface Incoming {
  readonly user?: string;
  readonly user_team?: string;
  readonly team?: string;
  readonly text?: string;
  readonly channel: string;
  readonly channel_type?: string;
  readonly ts: string;
  readonly thread_ts?: string;
  readonly subtype?: string;
  readonly bot_id?: string;
}

/** What surrounds an event. */
interface EventEnvelope {
  readonly event_id: string;
  /** True in a channel that is shared with another company; unknown when absent. */
  readonly is_ext_shared_channel?: boolean;
}

const TEXT_MAX = 10_000;
const REFUSED_MS = 60_000;

/** A direct message or a mention begins a turn as the person who wrote it. */
export function listenToMessages(app: App, deps: ListenerDeps): void {
  app.event('app_mention', async ({ event, body, context, client }) => {
    const message = event as Incoming;
    if (isOfPerson(message)) await take(deps, message, body, context, client);
  });
  app.event('message', async ({ event, body, context, client }) => {
    const message = event as Incoming;
    // In channels, mentions come by themselves.
    if (message.channel_type === 'im' && isOfPerson(message))
      await take(deps, message, body, context, client);
  });
}

/** False for edits, joins and messages of apps. Those of an app may name the person for whom it writes. */
function isOfPerson({ subtype, bot_id: botId }: Incoming): boolean {
  return subtype === undefined && botId === undefined;
}

async function take(
  deps: ListenerDeps,
  message: Incoming,
  envelope: EventEnvelope,
  context: Parameters<typeof actorOf>[0],
  client: WebClient,
): Promise<void> {
  const isWithinCompany = envelope.is_ext_shared_channel === false;
  const user = actorOf(context, message.user, message.user_team ?? message.team, isWithinCompany);
  const text = textOf(message.text ?? '');
  if (user === undefined || text === '') return;
  const place: SlackThread = {
    ...user,
    channel: message.channel,
    thread: message.thread_ts ?? message.ts,
    isPrivate: message.channel.startsWith('D'),
  };
  const owner = await deps.links.find(user);
  if (owner === undefined) {
    await tell(client, place, connectMessage(await deps.linkAddress(user)));
    return;
  }
  if (text.length > TEXT_MAX) {
    const text = `This message has more than ${TEXT_MAX} characters. Send a shorter one.`;
    await tell(client, place, { text, blocks: [section(text)] });
    return;
  }
  const conversationId = `slack.${user.teamId}.${message.channel}.${place.thread}`;
  // The id of the event names the turn: an event that Slack sends again finds the turn that it began.
  const idempotencyKey = `slack-${envelope.event_id}`;
  const stream = { ...owner, streamRequestId: await keyedStreamRequestId(owner, idempotencyKey) };
  const followFor = (keptMs: number) => deps.follow(stream, { ...place, conversationId }, keptMs);
  // Before the turn begins, so that nothing of it is missed; a message that is refused leaves nothing for long.
  await followFor(REFUSED_MS);
  const caller = callerOf(owner);
  try {
    await startTurn(deps.turns, {
      caller,
      conversationId,
      messages: [{ role: 'user', content: text }],
      agent: deps.settings.agent,
      support: { form: true, url: true, sensitiveForms: false },
      delivery: 'detach',
      idempotencyKey,
      draining: deps.isDraining(),
      admitted: deps.limits.call(caller, true),
    });
  } catch (error) {
    // Slack sends the event again.
    if (!isParleyError(error) || error.code === 'unavailable') throw error;
    const refusal = refusalText(error.code, error.message);
    await tell(client, place, { text: refusal, blocks: [section(refusal)] });
    return;
  }
  await followFor(deps.keptMs);
  await deps.outbox.add(turnTask(stream));
  deps.nudge();
}

/** A message without mentions of the app. */
function textOf(text: string): string {
  return text
    .replace(/<@[A-Z0-9]+>/gu, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .trim();
}

function refusalText(code: string, message: string): string {
  return code === 'turn_running'
    ? 'I am still working on your last message in this thread. Stop it, or wait for its end.'
    : message;
}

/** Tells the person alone. A message that is lost is not repeated: the person writes again. */
async function tell(client: WebClient, place: SlackThread, message: SlackMessage): Promise<void> {
  const { channel, thread, userId } = place;
  const at = { channel, ...(thread !== undefined && { thread_ts: thread }) };
  const sent = place.isPrivate
    ? client.chat.postMessage({ ...at, ...message, unfurl_links: false })
    : client.chat.postEphemeral({ ...at, ...message, user: userId });
  await sent.catch(() => undefined);
}
