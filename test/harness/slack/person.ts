import { randomUUID } from 'node:crypto';
import { waitUntil } from '../wait-until.ts';
import { type SlackStandIn, signatureOf } from './slack.ts';
import { directOf, type Json, newTs, type SlackMessage } from './state.ts';

export interface SlackWorld {
  readonly slack: SlackStandIn;
  /** Where the app takes requests. */
  readonly url: string;
  readonly signingSecret: string;
  /** True: what the person does reaches the app over Socket Mode. */
  readonly isSocketMode?: boolean;
}

export interface SlackIdentity {
  readonly team: string;
  readonly user: string;
  /** The workspace that the request comes from; that of the person by default. */
  readonly installedIn?: string;
  /** The enterprise of the workspace, which has installed the app for all of its workspaces. */
  readonly enterprise?: string;
}

export type SlackPerson = ReturnType<typeof createSlackPerson>;

/** Slack wants an acknowledgement in three seconds. A busy machine may take longer, which is no fault of the app. */
const ACK_MS = 30_000;
const RETRIES = 3;

/** A person in Slack, whose client sends what Slack would send. */
export function createSlackPerson(
  { slack, url, signingSecret, isSocketMode = false }: SlackWorld,
  identity: SlackIdentity,
) {
  const { team, user, installedIn = team, enterprise } = identity;
  const ofEnterprise = enterprise !== undefined;

  async function post(
    path: string,
    body: string,
    type: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': type, ...signatureOf(signingSecret, body), ...headers },
      body,
      signal: AbortSignal.timeout(ACK_MS),
    });
    return { status: response.status, body: await response.text() };
  }

  /** Sends an event, again with the same id where it is not acknowledged, as Slack does. */
  async function event(event: Json, id = `Ev${randomUUID()}`): Promise<number> {
    const payload = {
      type: 'event_callback',
      event_id: id,
      event_time: Math.floor(Date.now() / 1_000),
      team_id: installedIn,
      ...(ofEnterprise && { enterprise_id: enterprise }),
      api_app_id: 'A1',
      authorizations: [
        {
          team_id: installedIn,
          ...(ofEnterprise && { enterprise_id: enterprise }),
          is_enterprise_install: ofEnterprise,
          user_id: 'UBOT',
        },
      ],
      event,
    };
    if (isSocketMode) {
      const sent = slack.sockets.deliver('events_api', payload);
      return sent.then(
        () => 200,
        () => 0,
      );
    }
    const body = JSON.stringify(payload);
    let status = 0;
    for (let attempt = 0; attempt <= RETRIES; attempt += 1) {
      const retry =
        attempt === 0 ? {} : { 'x-slack-retry-num': String(attempt), 'x-slack-retry-reason': 'http_error' };
      const reply = await post('/slack/events', body, 'application/json', retry).catch(() => undefined);
      status = reply?.status ?? 0;
      if (status === 200 || (status >= 400 && status < 500)) return status;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return status;
  }

  async function interaction(payload: Json) {
    if (isSocketMode) {
      const sent = slack.sockets.deliver('interactive', payload);
      const reply = await sent.catch(() => 'failed' as const);
      if (reply === 'failed') return { status: 0, body: '' };
      return { status: 200, body: reply === undefined ? '' : JSON.stringify(reply) };
    }
    const body = new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
    const send = () => post('/slack/interactions', body, 'application/x-www-form-urlencoded');
    let reply = await send();
    // Slack shows that it failed, and the person does it again.
    for (let attempt = 0; attempt < RETRIES && reply.status === 503; attempt += 1) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      reply = await send();
    }
    return reply;
  }

  const common = () => ({
    user: { id: user, team_id: team, username: user },
    team: { id: installedIn, domain: 'acme' },
    enterprise: ofEnterprise ? { id: enterprise, name: enterprise } : null,
    is_enterprise_install: ofEnterprise,
    api_app_id: 'A1',
    token: 'unused',
  });

  /** Presses a button of a message; gives the words that only this person gets in return. */
  async function press(
    message: {
      readonly blocks: readonly Json[];
      readonly channel: string;
      /** True for a message that only this person sees. */
      readonly isEphemeral?: boolean;
    },
    action: string,
    triggerAgeMs = 0,
  ) {
    const button = buttonsOf(message.blocks).find(({ action_id }) => action_id === action);
    if (button === undefined) throw new Error(`no button ${action}`);
    const trigger = slack.newTrigger(user);
    if (triggerAgeMs > 0) slack.triggers.set(trigger, { user, until: Date.now() - 1 });
    const of = randomUUID();
    const { channel, isEphemeral = false } = message;
    const reply = await interaction({
      type: 'block_actions',
      ...common(),
      trigger_id: trigger,
      response_url: slack.responseUrl(of),
      channel: { id: channel, name: 'channel' },
      container: { type: 'message', channel_id: channel, is_ephemeral: isEphemeral },
      actions: [{ type: 'button', block_id: 'b', action_ts: newTs(), ...button }],
    });
    const told = () => slack.responses.find(({ to }) => to === of)?.body;
    return { status: reply.status, told };
  }

  return {
    ...identity,
    channel: directOf(user),
    post,
    event,
    /** Writes to the app, directly or by a mention in a channel. Gives the thread of the message. */
    async say(
      text: string,
      at: { readonly thread?: string; readonly channel?: string; readonly id?: string } = {},
    ) {
      const ts = newTs();
      const { channel = directOf(user), thread, id } = at;
      const isDirect = channel.startsWith('D');
      const status = await event(
        {
          type: isDirect ? 'message' : 'app_mention',
          channel,
          ...(isDirect && { channel_type: 'im' }),
          user,
          team,
          user_team: team,
          text: isDirect ? text : `<@UBOT> ${text}`,
          ts,
          ...(thread !== undefined && { thread_ts: thread }),
        },
        id,
      );
      return { status, thread: thread ?? ts, channel };
    },
    press,
    /** The words that only this person gets when they press a button. */
    async pressAndRead(...of: Parameters<typeof press>): Promise<string> {
      const { told } = await press(...of);
      return JSON.stringify(await waitUntil(told, { what: 'the words in return', timeoutMs: 60_000 }));
    },
    /** The form that was opened for this person last. */
    view: () => slack.views.filter((one) => one.user === user).at(-1),
    /** Submits a form; gives what the app replies with. */
    async submit(opened: { readonly id: string; readonly view: Json }, values: readonly Json[]) {
      const state = Object.fromEntries(values.map((value, index) => [`field_${index}`, { value }]));
      const reply = await interaction({
        type: 'view_submission',
        ...common(),
        trigger_id: slack.newTrigger(user),
        view: { id: opened.id, hash: 'h', root_view_id: opened.id, ...opened.view, state: { values: state } },
      });
      return { status: reply.status, body: reply.body === '' ? undefined : (JSON.parse(reply.body) as Json) };
    },
    /** Waits for a message of the app in a thread that fulfils a condition. */
    sees(thread: string, what: string | RegExp): Promise<SlackMessage> {
      const find = () => slack.messages.find((one) => one.thread_ts === thread && matches(one, what));
      return waitUntil(find, { timeoutMs: 90_000, what: `the message ${String(what)}` }).catch(
        (error: unknown) => {
          throw new Error(`${String(error)}\n${shownIn(slack, thread)}`);
        },
      );
    },
  };
}

/** The text of everything in a message, as its reader sees it. */
export function readable(message: { readonly text: string; readonly blocks: readonly Json[] }): string {
  return JSON.stringify(message.blocks.length > 0 ? message.blocks : message.text);
}

export function buttonsOf(blocks: readonly Json[]): Json[] {
  return blocks.flatMap(({ elements }) =>
    Array.isArray(elements) ? (elements as Json[]).filter(({ type }) => type === 'button') : [],
  );
}

function matches(message: SlackMessage, what: string | RegExp): boolean {
  const text = readable(message);
  return typeof what === 'string' ? text.includes(what) : what.test(text);
}

function shownIn(slack: SlackStandIn, thread: string): string {
  return slack.messages
    .filter((one) => one.thread_ts === thread)
    .map(readable)
    .join('\n');
}
