import type { Owner } from '@parley/core/domain/ids';
import { jsonBytes } from '../../domain/json/bytes.ts';
import type { ReachedQuota } from '../../domain/runs/commands.ts';
import { stateOf } from '../../domain/runs/transition.ts';
import type { ChatQuotas } from '../../ports/backend.ts';
import type { ChatUse } from '../../ports/runs/conversations.ts';
import type { NewRun } from '../../ports/runs/runs.ts';
import { ownerKey } from '../owner-key.ts';
import type { MemoryConversations } from './conversations.ts';
import { newRecord, type StoredRun } from './record.ts';

const A_DAY_MS = 86_400_000;

/** The quota counters of one process. */
interface MemoryUsage {
  /** The first exhausted quota that prevents the turn. */
  reached(run: NewRun): ReachedQuota | undefined;
  /** The person's present use. */
  of(owner: Owner): ChatUse;
  /** Adds used model tokens. */
  spend(owner: Owner, tokens: number): void;
  /** Forgets the tokens that a person has used. */
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

  function runsOf(owner: Owner): StoredRun[] {
    return runs().filter(
      ({ record }) => ownerKey(record) === ownerKey(owner) && record.support.unattended !== true,
    );
  }

  function runningOf(owner: Owner): StoredRun[] {
    return runsOf(owner).filter(
      ({ control }) => control.parent === undefined && ['owned', 'queued'].includes(stateOf(control)),
    );
  }

  /** The bytes of a person's runs, plus `bytes` of their conversations. */
  function storedBy(owner: Owner, bytes: number): number {
    return runsOf(owner).reduce((sum, { storedBytes }) => sum + storedBytes, bytes);
  }

  return {
    of(owner) {
      const { ids, bytes } = conversations.usedBy(owner);
      return {
        turns: runningOf(owner).length,
        tokens: tokensOf(owner).used,
        conversations: ids.size,
        storedBytes: storedBy(owner, bytes),
      };
    },
    reached(run) {
      if (run.parent !== undefined || run.support.unattended === true) return undefined;
      const running = runningOf(run).filter(({ control }) => control.conversationId !== run.conversationId);
      if (running.length >= quotas.turnsMax) return { of: 'user', quota: 'turns', retryInMs: 0 };
      const spent = tokensOf(run);
      if (spent.used >= quotas.tokensMax)
        return { of: 'user', quota: 'tokens', retryInMs: spent.until - Date.now() };
      const kept = conversations.usedBy(run);
      const isCounted = run.unlisted === undefined && !kept.ids.has(run.conversationId);
      if (isCounted && kept.ids.size >= quotas.conversationsMax)
        return { of: 'user', quota: 'conversations', retryInMs: 0 };
      const stored = storedBy(run, kept.bytes);
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

/** The size of a stored run in bytes: its record and its feed. */
export function storedBytesOf({ control, record }: Pick<StoredRun, 'control' | 'record'>): number {
  const notes = [...record.steps, ...record.calls, ...record.pauses];
  return notes.reduce((sum, note) => sum + jsonBytes(note), control.bytes + jsonBytes(record.input));
}
