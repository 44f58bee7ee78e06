import type { Owner } from '@parley/core/domain/ids';
import { jsonBytes } from '../../domain/json/bytes.ts';
import type { ReachedQuota } from '../../domain/runs/commands.ts';
import { stateOf } from '../../domain/runs/transition.ts';
import type { ChatQuotas } from '../../ports/backend.ts';
import type { NewRun } from '../../ports/runs/runs.ts';
import { ownerKey } from '../owner-key.ts';
import type { MemoryConversations } from './conversations.ts';
import { newRecord, type StoredRun } from './record.ts';

const A_DAY_MS = 86_400_000;

/** What the chats of people use in one process. */
interface MemoryUsage {
  /** The first quota that does not admit the turn. */
  reached(run: NewRun): ReachedQuota | undefined;
  /** Counts tokens of models. */
  spend(owner: Owner, tokens: number): void;
  /** Forgets the tokens that a person used. */
  remove(owner: Owner): void;
}

interface MemoryUsageDeps {
  readonly quotas: ChatQuotas;
  readonly runs: () => readonly StoredRun[];
  readonly conversations: Pick<MemoryConversations, 'usedBy' | 'hasHistory'>;
}

export function createMemoryUsage({ quotas, runs, conversations }: MemoryUsageDeps): MemoryUsage {
  const tokens = new Map<string, { used: number; until: number }>();

  function tokensOf(owner: Owner): { used: number; until: number } {
    const counter = tokens.get(ownerKey(owner));
    return counter !== undefined && counter.until > Date.now()
      ? counter
      : { used: 0, until: Date.now() + A_DAY_MS };
  }

  return {
    reached(run) {
      if (run.parent !== undefined || run.support.unattended === true) return undefined;
      const own = runs().filter(
        ({ record }) => ownerKey(record) === ownerKey(run) && record.support.unattended !== true,
      );
      const running = own.filter(
        ({ control }) =>
          control.parent === undefined &&
          control.conversationId !== run.conversationId &&
          ['owned', 'queued'].includes(stateOf(control)),
      );
      if (running.length >= quotas.turnsMax) return { of: 'user', quota: 'turns', retryInMs: 0 };
      const spent = tokensOf(run);
      if (spent.used >= quotas.tokensMax)
        return { of: 'user', quota: 'tokens', retryInMs: spent.until - Date.now() };
      const kept = conversations.usedBy(run);
      const isCounted = run.unlisted === undefined && !kept.ids.has(run.conversationId);
      if (isCounted && kept.ids.size >= quotas.conversationsMax)
        return { of: 'user', quota: 'conversations', retryInMs: 0 };
      const stored = own.reduce((sum, { storedBytes }) => sum + storedBytes, kept.bytes);
      const added = jsonBytes(newRecord(run, conversations.hasHistory(run), 0).input);
      return stored + added > quotas.storedBytesMax
        ? { of: 'user', quota: 'storage', retryInMs: 0 }
        : undefined;
    },
    remove: (owner) => void tokens.delete(ownerKey(owner)),
    spend(owner, used) {
      const counter = tokensOf(owner);
      tokens.set(ownerKey(owner), { ...counter, used: counter.used + used });
    },
  };
}

/** The bytes that a run stores: its record and its feed. */
export function storedBytesOf({ control, record }: Pick<StoredRun, 'control' | 'record'>): number {
  const notes = [...record.steps, ...record.calls, ...record.pauses];
  return notes.reduce((sum, note) => sum + jsonBytes(note), control.bytes + jsonBytes(record.input));
}
