/**
 * Tells a pod which records and turns of a tenant change, and when it missed some. The changes are published by the scripts
 * that write; what a listener shows is not known here.
 */

import { isApprovalId } from '@parley/core/domain/ids';
import { streamOfSubject } from '../../ports/delivery/outbox.ts';
import {
  CHANGE_WORDS,
  type ChangedKind,
  type TenantChange,
  type TenantChanges,
  type TenantSignal,
} from '../../ports/tenant-changes.ts';
import type { Commands } from '../client/connect.ts';
import { inGroups, settled } from '../client/in-groups.ts';
import { BUCKETS, tagOf } from '../client/keys.ts';
import { loadScript } from '../client/script.ts';
import type { Subscriber } from '../client/subscriber.ts';
import { changesChannel, watchedKeyIn } from './keys.ts';
import { createToldNumbers, type NumbersByTag } from './told-numbers.ts';

/** How long a bucket stays watched without a renewal, in ms. */
const WATCHED_MS = 30_000;
const RENEW_MS = 10_000;
const RETRY_MS = 500;

interface TenantChangesDeps {
  readonly redis: Commands;
  readonly subscriber: Subscriber;
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** This pod's one subscription to a tenant. */
interface WatchedTenant {
  readonly listeners: Set<(signal: TenantSignal) => void>;
  /** True once changes are being received. */
  isTold(): boolean;
  close(): void;
}

/**
 * The changes of tenants in Redis. While a tenant is watched, the scripts that write a record or turn publish each change on
 * the tenant's channel, numbered per bucket. A missing change is noticed by the number of the next one, or at a renewal.
 */
export function createRedisTenantChanges({ redis, subscriber, onError }: TenantChangesDeps): TenantChanges {
  const watchScript = loadScript(redis, 'tenants/watch', onError);
  const watched = new Map<string, WatchedTenant>();

  /** Keeps all buckets of a tenant watched. */
  async function keepWatched(tenant: string): Promise<NumbersByTag> {
    const results = await inGroups(
      redis,
      BUCKETS,
      (bucket) => bucket,
      async (group) => {
        const keys = group.map((bucket) => watchedKeyIn(bucket, tenant));
        const numbers = (await watchScript(keys, [WATCHED_MS])) as string[];
        return group.map((bucket, at) => settled(() => [tagOf(bucket), Number(numbers[at])] as const));
      },
    );
    return new Map(
      results.map((result) => {
        if (result.status === 'rejected') throw result.reason;
        return result.value;
      }),
    );
  }

  function open(tenant: string): WatchedTenant {
    const listeners = new Set<(signal: TenantSignal) => void>();
    let numbers = createToldNumbers();
    let isTold = false;
    let round = 0;
    let timer: NodeJS.Timeout | undefined;

    function tell(signal: TenantSignal): void {
      for (const listener of [...listeners]) listener(signal);
    }

    /**
     * Renews the watch. Only the latest round counts, because one that began before the subscription was renewed does not know
     * what was missed since.
     */
    async function renew(): Promise<void> {
      clearTimeout(timer);
      round += 1;
      const ownRound = round;
      const before = numbers.last();
      const told = await keepWatched(tenant).catch(() => undefined);
      if (ownRound !== round) return;
      timer = setTimeout(() => void renew(), told === undefined ? RETRY_MS : RENEW_MS).unref();
      if (told === undefined || (isTold && numbers.compare(before, told))) return;
      if (isTold) numbers = createToldNumbers();
      numbers.begin(told);
      isTold = true;
      tell({ type: 'reload' });
    }

    const unsubscribe = subscriber.subscribe(changesChannel(tenant), (signal) => {
      if (signal.type === 'resync') {
        numbers = createToldNumbers();
        isTold = false;
        return void renew();
      }
      const message = decodeChange(signal.message, tenant);
      if (message === undefined) return;
      const isNext = numbers.add(message.tag, message.number);
      if (!isTold) return;
      if (message.change !== undefined) tell({ type: 'change', change: message.change });
      if (!isNext) tell({ type: 'reload' });
    });

    return {
      listeners,
      isTold: () => isTold,
      close() {
        round += 1;
        clearTimeout(timer);
        unsubscribe();
      },
    };
  }

  return {
    watch(tenant, listener) {
      const one = watched.get(tenant) ?? open(tenant);
      watched.set(tenant, one);
      const deliver = (signal: TenantSignal) => listener(signal);
      one.listeners.add(deliver);
      if (one.isTold()) queueMicrotask(() => one.listeners.has(deliver) && deliver({ type: 'reload' }));
      return () => {
        one.listeners.delete(deliver);
        if (one.listeners.size > 0 || watched.get(tenant) !== one) return;
        watched.delete(tenant);
        one.close();
      };
    },
  };
}

interface ToldChange {
  readonly tag: string;
  readonly number: number;
  /** Absent when this version does not understand the change. */
  readonly change: TenantChange | undefined;
}

/** Parses a message of tell-change.lua. */
function decodeChange(message: string, tenant: string): ToldChange | undefined {
  const [tag = '', number, at, kind = '', word, path = ''] = message.split(' ');
  const change = CHANGE_WORDS.find((known) => known === word);
  if (!Number.isFinite(Number(number))) return undefined;
  // A delivery is announced by the subject of its task, which may be just the id of a record.
  const { streamRequestId: id = kind === 'delivery' ? path : '', userId } = streamOfSubject(path) ?? {};
  const changedKind = kindOf(kind, id);
  return {
    tag,
    number: Number(number),
    change:
      id !== '' && change && changedKind
        ? { kind: changedKind, id, tenant, ...(userId !== undefined && { userId }), change, at: Number(at) }
        : undefined,
  };
}

function kindOf(kind: string, id: string): ChangedKind | undefined {
  if (kind === 'turn' || kind === 'delivery') return kind;
  if (kind !== 'record') return undefined;
  return isApprovalId(id) ? 'approval' : 'elicitation';
}
