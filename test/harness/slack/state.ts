import { faultOfMessage, faultOfView } from './blocks.ts';

export type Json = Readonly<Record<string, unknown>>;

/** A message in a channel of the stand-in, as it is at one time: an edit puts another in its place. */
export interface SlackMessage {
  readonly ts: string;
  readonly channel: string;
  readonly thread_ts?: string;
  readonly text: string;
  readonly blocks: readonly Json[];
  readonly metadata?: Json;
  readonly edits: number;
}

export interface SentEphemeral {
  readonly channel: string;
  readonly user: string;
  readonly text: string;
  readonly blocks: readonly Json[];
}

export interface OpenedView {
  readonly id: string;
  readonly user: string;
  readonly view: Json;
}

/** What the stand-in knows. */
export interface SlackState {
  readonly messages: SlackMessage[];
  readonly ephemerals: SentEphemeral[];
  readonly views: OpenedView[];
  readonly statuses: { readonly channel: string; readonly status: string }[];
  /** Users by their triggers, with the time at which each trigger expires. */
  readonly triggers: Map<string, { readonly user: string; readonly until: number }>;
  /** Codes that were given out, for bots and for people. */
  readonly codes: Map<string, Json>;
  /** Valid tokens, and the team or person that each is for. */
  readonly tokens: Map<string, Json>;
  /** Names of people, channels and groups by their ids. */
  readonly names: Map<string, string>;
  /** How often a method was called. */
  readonly calls: Map<string, number>;
}

/** An error in Slack's words. */
export class SlackRefusal extends Error {
  readonly reason: string;
  readonly details: string | undefined;
  constructor(reason: string, details?: string) {
    super(reason);
    this.reason = reason;
    this.details = details;
  }
}

let clock = 0;

/** A timestamp as Slack makes them; each is larger than the one before. */
export function newTs(): string {
  clock = Math.max(clock + 1, Date.now() * 1_000);
  return `${Math.floor(clock / 1_000_000)}.${String(clock % 1_000_000).padStart(6, '0')}`;
}

type Method = (state: SlackState, given: Json) => Json;

/** The methods of the Web API that need a bot's token. */
export const METHODS: Readonly<Record<string, Method>> = {
  'auth.test': () => ({ team_id: 'T1', user_id: 'UBOT', bot_id: 'BBOT' }),
  'chat.postMessage': (state, given) => {
    const message = create(given);
    state.messages.push(message);
    return { channel: message.channel, ts: message.ts, message };
  },
  'chat.update': (state, given) => {
    const at = state.messages.findIndex(({ ts, channel }) => ts === given.ts && channel === given.channel);
    const found = state.messages[at];
    if (found === undefined) throw new SlackRefusal('message_not_found');
    const { text, blocks } = create(given);
    // A person may still press what they saw before.
    state.messages[at] = { ...found, text, blocks, edits: found.edits + 1 };
    return { channel: found.channel, ts: found.ts };
  },
  'chat.postEphemeral': (state, given) => {
    const { channel, text, blocks } = create(given);
    state.ephemerals.push({ channel, text, blocks, user: String(given.user) });
    return { message_ts: newTs() };
  },
  'conversations.open': (_, given) => ({ channel: { id: directOf(String(given.users)) } }),
  'conversations.history': (state, given) => ({ messages: listed(state, given, undefined) }),
  'conversations.replies': (state, given) => ({ messages: listed(state, given, String(given.ts)) }),
  'users.info': (state, { user }) => ({
    user: { id: user, name: 'unused', profile: { display_name: '', real_name: nameOf(state, user, 'user') } },
  }),
  'conversations.info': (state, { channel }) => ({
    channel: {
      id: channel,
      name: nameOf(state, channel, 'channel'),
      is_private: String(channel).startsWith('G'),
    },
  }),
  'usergroups.list': ({ names }) => ({
    usergroups: [...names].filter(([id]) => id.startsWith('S')).map(([id, handle]) => ({ id, handle })),
  }),
  'views.open': (state, given) => {
    const trigger = state.triggers.get(String(given.trigger_id));
    if (trigger === undefined) throw new SlackRefusal('invalid_trigger_id');
    if (Date.now() > trigger.until) throw new SlackRefusal('expired_trigger_id');
    state.triggers.delete(String(given.trigger_id));
    const view = jsonOf(given.view);
    const fault = faultOfView(view);
    if (fault !== undefined) throw new SlackRefusal('invalid_arguments', fault);
    const opened = { id: `V${state.views.length + 1}`, user: trigger.user, view };
    state.views.push(opened);
    return { view: { id: opened.id } };
  },
  'assistant.threads.setStatus': (state, given) => {
    state.statuses.push({ channel: String(given.channel_id), status: String(given.status ?? '') });
    return {};
  },
  'openid.connect.userInfo': (state, given) => state.tokens.get(String(given.token)) ?? {},
};

/** The direct messages of a user with the app. */
export function directOf(user: string): string {
  return `D${user.slice(1)}`;
}

function nameOf({ names }: SlackState, id: unknown, kind: string): string {
  const name = names.get(String(id));
  if (name === undefined) throw new SlackRefusal(`${kind}_not_found`);
  return name;
}

function create(given: Json): SlackMessage {
  const blocks = given.blocks === undefined ? [] : (jsonOf(given.blocks) as unknown as readonly Json[]);
  const text = String(given.text ?? '');
  const fault = faultOfMessage({ text, blocks });
  if (fault !== undefined) throw new SlackRefusal('invalid_blocks', fault);
  const named = String(given.channel);
  return {
    ts: newTs(),
    channel: named.startsWith('U') ? directOf(named) : named,
    text,
    blocks,
    edits: 0,
    ...(given.thread_ts !== undefined && { thread_ts: String(given.thread_ts) }),
    ...(given.metadata !== undefined && { metadata: jsonOf(given.metadata) }),
  };
}

function listed(state: SlackState, { channel, oldest = '0' }: Json, thread: string | undefined) {
  const all = state.messages.filter(
    (one) =>
      one.channel === channel && (thread === undefined || one.thread_ts === thread || one.ts === thread),
  );
  return all.filter(({ ts }) => Number(ts) >= Number(oldest));
}

function jsonOf(value: unknown): Json {
  return (typeof value === 'string' ? JSON.parse(value) : value) as Json;
}
