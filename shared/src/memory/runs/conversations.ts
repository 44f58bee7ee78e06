/**
 * Conversations in one process: histories, titles, lists, and the one running turn of each. Runs themselves are in `runs.ts`,
 * and quotas in `usage.ts`.
 */

import type { Owner } from '@parley/core/domain/ids';
import { jsonBytes } from '../../domain/json/bytes.ts';
import { contentParts } from '../../domain/runs/content.ts';
import type { ConversationRef, Message, RememberedMessage, RunRef } from '../../domain/runs/run.ts';
import type { BackendSettings } from '../../ports/backend.ts';
import type { Conversations, LastTurn, ListedConversation } from '../../ports/runs/conversations.ts';
import type { NewRun } from '../../ports/runs/runs.ts';
import { createExpiringMap } from '../expiring-map.ts';
import { ownerKey } from '../owner-key.ts';

/**
 * `chat`: the person's list contains it. `unlisted`: no list contains it, and only its bytes count for quotas. `delegate`:
 * nobody continues it, and quotas ignore it.
 */
type ConversationKind = 'chat' | 'unlisted' | 'delegate';

/** The kind of a run's conversation. */
export function kindOf({
  parent,
  unlisted,
}: {
  parent?: unknown;
  unlisted?: true | undefined;
}): ConversationKind {
  if (parent !== undefined) return 'delegate';
  return unlisted === undefined ? 'chat' : 'unlisted';
}

/** How a turn ended, as far as its conversation records it. */
interface EndedTurn {
  readonly wasDetached: boolean;
  readonly kind: ConversationKind;
  readonly traceparent?: string | undefined;
  /** The messages that the turn adds to the history. */
  readonly messages: readonly Message[];
}

/** The conversations of one process, with the calls that its runs make. */
export interface MemoryConversations extends Omit<Conversations, 'usage'> {
  /** The stream request of the running turn. */
  running(conversation: ConversationRef): string | undefined;
  hasHistory(conversation: ConversationRef): boolean;
  /** Records that this turn has been running in its conversation since `now`. */
  begin(run: NewRun, now: number): void;
  /** The ids of a person's chats, and the bytes of the messages in all their conversations except those of delegates. */
  usedBy(owner: Owner): { readonly ids: ReadonlySet<string>; readonly bytes: number };
  /** The ids of a person's conversations, except those of delegates. */
  idsOf(owner: Owner): string[];
  remove(conversation: ConversationRef): void;
  /** Keeps the conversation for as long as a turn may run from now on. */
  keep(run: RunRef): void;
  /** Ends the turn of a conversation and adds its messages to the history. */
  end(run: RunRef, ended: EndedTurn): void;
}

interface Stored {
  readonly conversation: ConversationRef;
  readonly kind: ConversationKind;
  readonly running?: string;
  readonly last?: LastTurn;
  readonly messages: readonly RememberedMessage[];
  /** The entry in the person's list; absent for an unlisted conversation. */
  readonly listed?: Omit<ListedConversation, 'isRunning'> & { readonly owner: string };
}

type ConversationSettings = Pick<
  BackendSettings,
  'conversationTtlMs' | 'retentionMs' | 'historyMessagesMax' | 'historyBytesMax' | 'historyImageBytesMax'
>;

/** `runMs` is the longest time for which a run lasts, plus its retention. */
export function createMemoryConversations(
  settings: ConversationSettings,
  runMs: number,
): MemoryConversations {
  const conversations = createExpiringMap<Stored>();
  const find = (conversation: ConversationRef) => conversations.get(conversationKey(conversation));

  function keep(run: RunRef, stored: Stored): void {
    const ttlMs = Math.max(runMs, settings.conversationTtlMs);
    conversations.set(conversationKey(run), stored, Date.now() + ttlMs);
  }

  return {
    async read(conversation) {
      const { running, last, messages } = find(conversation) ?? { messages: [] };
      return {
        ...(running !== undefined && { running }),
        ...(last !== undefined && { last }),
        messages: structuredClone(messages),
      };
    },
    running: (conversation) => find(conversation)?.running,
    hasHistory: (conversation) => (find(conversation)?.messages.length ?? 0) > 0,
    usedBy({ tenant, userId }) {
      const own = conversations
        .values()
        .filter(
          ({ conversation: of, kind }) => kind !== 'delegate' && of.tenant === tenant && of.userId === userId,
        );
      return {
        ids: new Set(
          own.flatMap(({ kind, conversation }) => (kind === 'chat' ? [conversation.conversationId] : [])),
        ),
        bytes: own.flatMap(({ messages }) => messages).reduce((sum, message) => sum + jsonBytes(message), 0),
      };
    },
    async list(owner, { limit, cursor }) {
      const all = conversations
        .values()
        .filter(({ listed }) => listed?.owner === ownerKey(owner))
        .map(({ listed, running }) => ({ place: placeOf(listed), listed, running }))
        .sort((a, b) => (a.place < b.place ? 1 : -1));
      const left = all.filter(({ place }) => cursor === undefined || place < cursor);
      const page = left.slice(0, limit);
      const last = page.at(-1);
      return {
        conversations: page.flatMap(({ listed, running }) => {
          if (listed === undefined) return [];
          const { owner: _owner, ...summary } = listed;
          return [{ ...summary, isRunning: running !== undefined }];
        }),
        ...(last !== undefined && left.length > limit && { nextCursor: last.place }),
      };
    },
    async rename(conversation, title) {
      const stored = find(conversation);
      if (stored?.listed === undefined) return false;
      const listed = { ...stored.listed, title };
      conversations.replace(conversationKey(conversation), { ...stored, listed });
      return true;
    },
    begin(run, now) {
      const before = find(run);
      const kind = kindOf(run);
      const title = before?.listed?.title ?? run.title;
      const { conversationId, agent } = run;
      const listed = {
        owner: ownerKey(run),
        conversationId,
        agent,
        at: now,
        ...(title !== undefined && { title }),
      };
      keep(run, {
        conversation: run,
        kind,
        messages: [],
        ...before,
        running: run.streamRequestId,
        ...(kind === 'chat' && { listed }),
      });
    },
    idsOf: (owner) =>
      conversations
        .values()
        .filter(({ conversation, kind }) => kind !== 'delegate' && ownerKey(conversation) === ownerKey(owner))
        .map(({ conversation }) => conversation.conversationId),
    remove: (conversation) => conversations.delete(conversationKey(conversation)),
    keep(run) {
      const stored = find(run);
      if (stored !== undefined) keep(run, stored);
    },
    end(run, { wasDetached, kind, traceparent, messages: added }) {
      const { streamRequestId } = run;
      const { running, messages, listed } = find(run) ?? { messages: [] };
      const stored: Stored = {
        conversation: run,
        kind,
        ...(listed !== undefined && { listed }),
        last: { streamRequestId, wasDetached, ...(traceparent !== undefined && { traceparent }) },
        ...(running !== undefined && running !== streamRequestId && { running }),
        messages: remembered([...messages, ...addedBy(streamRequestId, added)], added.length, settings),
      };
      const ttlMs = kind === 'chat' ? settings.conversationTtlMs : settings.retentionMs;
      conversations.set(conversationKey(run), stored, Date.now() + ttlMs);
    },
  };
}

function addedBy(turn: string, messages: readonly Message[]): RememberedMessage[] {
  return messages.map((message) => ({ ...structuredClone(message), turn }));
}

/** The newest messages within the limits. The `latest` messages are kept whatever their size. */
function remembered(
  messages: readonly RememberedMessage[],
  latest: number,
  { historyMessagesMax, historyBytesMax, historyImageBytesMax }: ConversationSettings,
): RememberedMessage[] {
  const kept = messages.slice(-historyMessagesMax);
  let images = kept.reduce((sum, message) => sum + imageBytesOf(message), 0);
  let others = kept.reduce((sum, message) => sum + jsonBytes(message), 0) - images;
  while (kept.length > latest && (others > historyBytesMax || images > historyImageBytesMax)) {
    const oldest = kept.shift();
    const bytes = oldest === undefined ? 0 : imageBytesOf(oldest);
    images -= bytes;
    others -= jsonBytes(oldest) - bytes;
  }
  return kept;
}

function imageBytesOf({ role, content }: Message): number {
  if (role !== 'user' || typeof content === 'string') return 0;
  return contentParts(content).reduce((sum, part) => sum + (part.type === 'file' ? part.data.length : 0), 0);
}

/** The sort key of a list entry: by time, and then by id. */
function placeOf(listed: Stored['listed']): string {
  return `${String(listed?.at).padStart(16, '0')}.${listed?.conversationId}`;
}

function conversationKey({ tenant, userId, conversationId }: ConversationRef): string {
  return JSON.stringify([tenant, userId, conversationId]);
}
