import { BUCKET_COUNT } from '@parley/core/domain/ids';
import { tagOf } from './keys.ts';

/** A key of Parley's own, taken apart. */
export interface KeyName {
  readonly key: string;
  readonly bucket: number;
  /** What kind of thing it is, e.g. `elicitation`, `feed`, `claim`. */
  readonly family: string;
  /** What follows the family; empty when nothing does. */
  readonly rest: string;
}

/** Every key that lies in a bucket, as a SCAN pattern; those of the timer queues do not. */
export const BUCKET_KEYS = 'parley:{b*}:*';

const KEY = /^parley:\{([^}]+)\}:([^:]+)(?::(.*))?$/s;
const BUCKETS: ReadonlyMap<string, number> = new Map(
  Array.from({ length: BUCKET_COUNT }, (_, bucket) => [tagOf(bucket), bucket]),
);

/** Takes a key apart; nothing when it is not one that lies in a bucket. */
export function parseKey(key: string): KeyName | undefined {
  const [, tag = '', family = '', rest = ''] = KEY.exec(key) ?? [];
  const bucket = BUCKETS.get(tag);
  return bucket === undefined ? undefined : { key, bucket, family, rest };
}
