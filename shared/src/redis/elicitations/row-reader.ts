import type { FamilyTypes } from '@parley/core/domain/family';
import { bucketOfRecordId } from '@parley/core/domain/ids';
import type { Reading } from '../../ports/elicitations/elicitations.ts';
import type { Commands } from '../client/connect.ts';
import { inGroups, settled } from '../client/in-groups.ts';
import { elicitationKey } from '../client/keys.ts';
import { loadScript } from '../client/script.ts';
import { orUnavailable } from '../client/unavailable.ts';
import { rowOf, rowOfHash } from '../records/row-codec.ts';

/** Reads rows together with the clock. */
interface RowReader<T extends FamilyTypes> {
  read(id: string): Promise<Reading<T>>;
  /** See `Records.readEach`. */
  readEach(ids: readonly string[]): Promise<PromiseSettledResult<Reading<T>>[]>;
  /** Rows of any owners, in the order of `ids`. Rejects when one cannot be read. `now` is the time of the earliest read. */
  readMany(ids: readonly string[]): Promise<{ readonly rows: Reading<T>['row'][]; readonly now: number }>;
}

export function createRowReader<T extends FamilyTypes>(
  redis: Commands,
  onError?: (error: unknown) => void,
): RowReader<T> {
  const readScript = loadScript(redis, 'client/read-hash', onError);
  const readManyScript = loadScript(redis, 'elicitations/read-many', onError);

  async function read(id: string): Promise<Reading<T>> {
    const key = elicitationKey(id);
    // On a Cluster, TIME might be answered by another server, so a script reads both.
    if (redis.isCluster) {
      const [now, ...fields] = (await readScript([key], [])) as unknown[];
      return { row: rowOf<T>(id, fields), now: Number(now) };
    }
    // Two commands cost Redis a third of what the script costs. If a commit comes in between, the commit based on this read is
    // refused and decided again.
    const [hash, now] = await Promise.all([
      orUnavailable(() => redis.hgetall(key), onError),
      readClock(redis, onError),
    ]);
    return { row: rowOfHash<T>(id, hash), now };
  }

  async function readGroup(ids: readonly string[]): Promise<PromiseSettledResult<Reading<T>>[]> {
    const [now, ...hashes] = (await readManyScript(ids.map(elicitationKey), [])) as [number, ...unknown[][]];
    return hashes.map((fields, index) => settled(() => ({ row: rowOf<T>(ids[index] ?? '', fields), now })));
  }

  const readEach = (ids: readonly string[]) => inGroups(redis, ids, bucketOfRecordId, readGroup);

  return {
    read,
    readEach,
    async readMany(ids) {
      if (ids.length === 0) return { rows: [], now: await readClock(redis, onError) };
      const readings = (await readEach(ids)).map((reading) => {
        if (reading.status === 'rejected') throw reading.reason;
        return reading.value;
      });
      return {
        rows: readings.map(({ row }) => row),
        now: Math.min(...readings.map(({ now }) => now)),
      };
    },
  };
}

/** Reads the clock when no row is read together with it. */
async function readClock(redis: Commands, onError?: (error: unknown) => void): Promise<number> {
  const [seconds, microseconds] = await orUnavailable(() => redis.time(), onError);
  return Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
}
