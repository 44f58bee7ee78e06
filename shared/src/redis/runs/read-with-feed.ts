import type { FamilyTypes } from '@parley/core/domain/family';
import { type StoredRecord, storedRecordOf } from '../../ports/elicitations/elicitations.ts';
import type { Runs } from '../../ports/runs/runs.ts';
import type { Commands } from '../client/connect.ts';
import { feedKey, runKey } from '../client/keys.ts';
import { loadNamedScript } from '../client/script.ts';
import { entryOf, type StreamReply } from '../feed/feed.ts';
import { rowOf } from '../records/row-codec.ts';
import { runOf } from './run-codec.ts';

// Redis is blocked while the script reads the rows, and a question may take 50 kB.
const ROWS_MAX = 25;

/** Reads a run together with the beginning of its feed, in one round trip. */
export function createRunReader(redis: Commands, onError?: (error: unknown) => void): Runs['readWithFeed'] {
  const script = loadNamedScript(redis, 'runs/read-with-feed', onError);
  return async (stream, eventsMax) => {
    const keys = { run: runKey(stream), feed: feedKey(stream) };
    const reply = await script({ keys, args: { eventsMax, rowsMax: ROWS_MAX } });
    const [now, fields, entries, ...rows] = reply as [number, unknown[], StreamReply, ...unknown[]];
    return {
      run: runOf(stream, fields),
      feed: {
        now,
        entries: entries.map(entryOf),
        isWhole: entries.length < eventsMax,
        records: recordsIn(rows),
      },
    };
  };
}

/** The rows in a reply, where each follows its id. */
function recordsIn(reply: readonly unknown[]): ReadonlyMap<string, StoredRecord> {
  const records = new Map<string, StoredRecord>();
  for (let index = 0; index + 1 < reply.length; index += 2) {
    const id = String(reply[index]);
    const row = rowOf<FamilyTypes>(id, reply[index + 1] as unknown[]);
    if (row !== undefined) records.set(id, storedRecordOf(row));
  }
  return records;
}
