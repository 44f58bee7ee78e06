/**
 * Finds and replaces sealed values outside the vault when master keys change. Sealing itself is in `vault/seal.ts`, and the
 * loop over all stores in `vault/rekey.ts`.
 */

import { parseStreamPath } from '@parley/core/domain/ids';
import { parsed } from '@parley/core/domain/parsed';
import { z } from 'zod';
import { parsePushTargetName, pushTargetName } from '../../domain/a2a/push-target-name.ts';
import { CallRecord } from '../../domain/runs/run.ts';
import type { LapsingValue, SealedKindsOf, SealedRecord, SealedStore } from '../../ports/sealed.ts';
import type { Commands } from '../client/connect.ts';
import { BUCKET_KEYS, type KeyName, parseKey } from '../client/key-names.ts';
import { runKey } from '../client/keys.ts';
import { scanKeys } from '../client/scan-keys.ts';
import { loadScript } from '../client/script.ts';
import { orUnavailable } from '../client/unavailable.ts';
import { recordKey } from '../records/records.ts';

const FIELDS = 500;

type StateKind = SealedKindsOf<'state'>;
type StateValue = SealedRecord<StateKind> | LapsingValue;

/** How the sealed values of one kind are found in a key. */
interface Finder<Kind extends StateValue['kind']> {
  /** True for keys that may contain such values. */
  holds(name: KeyName): boolean;
  read(name: KeyName): Promise<readonly Extract<StateValue, { readonly kind: Kind }>[]>;
}

/** Replaces a sealed value of one kind by the same value under another key. */
type Replace<Kind extends StateKind> = (record: SealedRecord<Kind>, sealed: string) => Promise<unknown>;

const Kept = z.looseObject({ sealed: z.string() });
// The task of a remote agent is stored in the same field, as JSON; it is not sealed.
const SEALED = /^v\d+\./;
const CONNECT_FAMILIES: ReadonlySet<string> = new Set(['connect-sign-in', 'connect-flow', 'connect-report']);

/** The sealed values outside the vault: rounds of questions, push targets, and sign-ins and connections in progress. */
export function createRedisSealedState(
  redis: Commands,
  onError?: (error: unknown) => void,
): SealedStore<StateKind> {
  const replaceCall = loadScript(redis, 'sealed/replace-call', onError);
  const replaceRecord = loadScript(redis, 'sealed/replace-record', onError);
  const guarded = <T>(run: () => Promise<T>) => orUnavailable(run, onError);

  async function callsOf(key: string): Promise<CallRecord[]> {
    const calls: CallRecord[] = [];
    let cursor = '0';
    do {
      const at = cursor;
      const [next, fields] = await guarded(() => redis.hscan(key, at, 'MATCH', 'call:*', 'COUNT', FIELDS));
      for (let index = 1; index < fields.length; index += 2) {
        const call = parsed(CallRecord, fields[index] ?? '');
        if (call !== undefined) calls.push(call);
      }
      cursor = next;
    } while (cursor !== '0');
    return calls;
  }

  const finders: { readonly [Kind in StateValue['kind']]: Finder<Kind> } = {
    round: {
      holds: ({ family }) => family === 'run',
      async read({ key, rest }) {
        const stream = parseStreamPath(rest);
        // An ended run is never continued, so its rounds need no new seal.
        if (stream === undefined || (await guarded(() => redis.hget(key, 'status'))) !== 'running') return [];
        const { tenant, userId, streamRequestId } = stream;
        return (await callsOf(key)).flatMap(({ toolCallId, round, roundServer: serverId = '' }) => {
          if (round === undefined || !SEALED.test(round)) return [];
          const ref = { tenant, userId, callKey: `${streamRequestId} ${toolCallId}`, serverId };
          return { kind: 'round', ref, sealed: round };
        });
      },
    },
    push: {
      holds: ({ family, rest }) => family === 'record' && rest.includes('/a2a-push%2F'),
      async read({ key, rest }) {
        const [tenant = '', userId = '', name = ''] = rest.split('/').map(decodeURIComponent);
        const place = parsePushTargetName(name);
        const sealed = await guarded(() => redis.get(key));
        if (place === undefined || sealed === null) return [];
        return [{ kind: 'push', ref: { tenant, userId, ...place }, sealed }];
      },
    },
    flow: {
      holds: ({ family }) => CONNECT_FAMILIES.has(family),
      async read({ key }) {
        const value = await guarded(() => redis.hget(key, 'value'));
        const leftMs = await guarded(() => redis.pttl(key));
        const { sealed } = parsed(Kept, value ?? '') ?? {};
        return sealed === undefined || leftMs < 0 ? [] : [{ kind: 'flow', sealed, leftMs }];
      },
    },
  };

  const replacers: { readonly [Kind in StateKind]: Replace<Kind> } = {
    async round({ ref: { tenant, userId, callKey }, sealed: before }, round) {
      const space = callKey.indexOf(' ');
      const key = runKey({ tenant, userId, streamRequestId: callKey.slice(0, space) });
      const field = `call:${callKey.slice(space + 1)}`;
      const text = await guarded(() => redis.hget(key, field));
      const call = text === null ? undefined : parsed(CallRecord, text);
      if (text === null || call?.round !== before) return 0;
      return replaceCall([key], [field, text, JSON.stringify({ ...call, round })]);
    },
    push({ ref: { streamRequestId, slot, ...owner }, sealed: before }, sealed) {
      const name = pushTargetName(streamRequestId, slot);
      return replaceRecord([recordKey(owner, name)], [before, sealed]);
    },
  };

  return {
    async *scan(signal) {
      for await (const keys of scanKeys(redis, BUCKET_KEYS, onError, signal)) {
        const names = keys.map(parseKey).filter((name) => name !== undefined);
        const found = names.flatMap((name) => {
          const finder = Object.values(finders).find(({ holds }) => holds(name));
          return finder === undefined ? [] : [finder.read(name)];
        });
        const values = (await Promise.all(found)).flat();
        if (values.length > 0) yield values;
      }
    },
    async rewrap(record, sealed) {
      const replace = replacers[record.kind] as Replace<StateKind>;
      return (await replace(record, sealed)) === 1;
    },
  };
}
