import { BUCKET_COUNT } from '@parley/core/domain/ids';
import { tagOf } from './keys.ts';

/** The parts of a key of Parley. */
export interface KeyName {
  readonly key: string;
  readonly bucket: number;
  /** The kind of data, for example `elicitation`, `feed`, `claim`. */
  readonly family: string;
  /** The part after the family; empty when there is none. */
  readonly rest: string;
}

/** The SCAN pattern of all keys in buckets. The keys of timer queues are in none. */
export const BUCKET_KEYS = 'parley:{b*}:*';

const KEY = /^parley:\{([^}]+)\}:([^:]+)(?::(.*))?$/s;
const BUCKETS: ReadonlyMap<string, number> = new Map(
  Array.from({ length: BUCKET_COUNT }, (_, bucket) => [tagOf(bucket), bucket]),
);

/** Parses a key; undefined when it is not in a bucket. */
export function parseKey(key: string): KeyName | undefined {
  const [, tag = '', family = '', rest = ''] = KEY.exec(key) ?? [];
  const bucket = BUCKETS.get(tag);
  return bucket === undefined ? undefined : { key, bucket, family, rest };
}
