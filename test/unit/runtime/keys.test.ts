import { BUCKET_COUNT, bucketOf, mintElicitationId } from '@parley/core/domain/ids';
import { parseKey } from '@parley/shared/redis/client/key-names';
import {
  canaryKey,
  channelName,
  claimKey,
  deadlinesKey,
  elicitationKey,
  feedKey,
  historyKey,
  inboxKey,
  limitKey,
  probeChannel,
  tagOf,
} from '@parley/shared/redis/client/keys';
import { slotOf } from '@parley/shared/redis/client/slot';
import { pageEntryKey } from '@parley/shared/redis/pages/keys';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

const SLOTS_PER_BUCKET = 16_384 / BUCKET_COUNT;
const buckets = Array.from({ length: BUCKET_COUNT }, (_, bucket) => bucket);

/** Names that try to look like others once they are joined. */
const name = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.string({ unit: fc.constantFrom(...'/:%{}.*ab2F \n\r\t\0'), maxLength: 6 }),
  fc.constantFrom('', '/', '%2F', '%252F', 'a/b', 'a', 'b', '{x}', '}{', ':feed:', '..', 'stream', 'inbox'),
);
const stream = fc.record({ tenant: name, userId: name, streamRequestId: name });

/** Everything that is named after a person or a stream, by family. */
function keysOf(ref: { tenant: string; userId: string; streamRequestId: string }): string[] {
  const { tenant, userId, streamRequestId } = ref;
  return [
    feedKey(ref),
    inboxKey(ref),
    historyKey(ref),
    limitKey('writes', ref),
    claimKey({ family: 'idempotency', tenant, name: `${userId}/${streamRequestId}` }),
    claimKey({ family: 'stream', tenant, name: `${userId}/${streamRequestId}` }),
  ];
}

function channelsOf({ tenant, userId, streamRequestId }: Parameters<typeof keysOf>[0]): string[] {
  return [
    channelName('stream', { tenant, userId, streamRequestId }),
    channelName('inbox', { tenant, userId }),
    channelName('approval', { tenant, userId, streamRequestId }),
    channelName('approval', { tenant, userId }),
  ];
}

/** The part of a key that a Cluster hashes. */
function hashTagOf(key: string): string | undefined {
  return /\{([^}]+)\}/.exec(key)?.[1];
}

describe('the slot of a key', () => {
  it.each([
    ['', 0],
    ['123456789', 0x31c3],
    ['foo', 12_182],
    ['bar', 5_061],
    ['hello', 866],
  ])('of %j is %i', (key, slot) => {
    expect(slotOf(key)).toBe(slot);
  });
});

describe('the tags of the buckets', () => {
  it('lie in 64 equal ranges of slots, in order', () => {
    expect(buckets.map((bucket) => Math.floor(slotOf(tagOf(bucket)) / SLOTS_PER_BUCKET))).toEqual(buckets);
    expect(new Set(buckets.map(tagOf)).size).toBe(BUCKET_COUNT);
  });

  it('are plain words', () => {
    for (const bucket of buckets) expect(tagOf(bucket)).toMatch(/^[a-z0-9.]+$/);
  });

  it.each([-1, 64, 1.5, Number.NaN])('do not exist for bucket %d', (bucket) => {
    expect(() => tagOf(bucket)).toThrow(RangeError);
  });

  // What is stored lies under these: other tags would lose it all.
  it('never change', () => {
    expect([tagOf(0), tagOf(31), tagOf(63)]).toEqual(['b00.1z', 'b31.2j', 'b63.10']);
  });
});

describe('the keys of one owner', () => {
  it('share the hash tag of the owner, and so do its channels and its elicitations', () => {
    fc.assert(
      fc.property(stream, (ref) => {
        const owned = [feedKey(ref), inboxKey(ref), historyKey(ref), limitKey('writes', ref)];
        const row = elicitationKey(mintElicitationId(ref));
        const deadlines = deadlinesKey(bucketOf(ref));
        const tags = [...owned, row, deadlines, ...channelsOf(ref)].map(hashTagOf);
        expect(new Set(tags)).toEqual(new Set([tagOf(bucketOf(ref))]));
      }),
    );
  });

  it('are never those of another user, stream or family', () => {
    fc.assert(
      fc.property(stream, stream, (one, other) => {
        const same = (['tenant', 'userId', 'streamRequestId'] as const).every(
          (part) => one[part] === other[part],
        );
        fc.pre(!same);
        const sameOwner = one.tenant === other.tenant && one.userId === other.userId;
        const shared = sameOwner ? [inboxKey(one), historyKey(one), limitKey('writes', one)] : [];
        const common = keysOf(one).filter((key) => keysOf(other).includes(key));
        // Claims are named by tenant and one more name, which this test joins with a slash itself.
        const claims = claimsThatMeet(one, other);
        expect(common.sort()).toEqual([...shared, ...claims].sort());
        const sharedChannels = sameOwner
          ? [channelName('inbox', ownerOf(one)), channelName('approval', ownerOf(one))]
          : [];
        expect(
          channelsOf(one)
            .filter((channel) => channelsOf(other).includes(channel))
            .sort(),
        ).toEqual(sharedChannels.sort());
      }),
      { numRuns: 1_000 },
    );
  });

  it('are all different from each other', () => {
    fc.assert(
      fc.property(stream, (ref) => {
        expect(new Set(keysOf(ref)).size).toBe(keysOf(ref).length);
        expect(new Set(channelsOf(ref)).size).toBe(channelsOf(ref).length);
      }),
    );
  });

  it('can be parsed to the names', () => {
    fc.assert(
      fc.property(stream, (ref) => {
        const [, tenant, userId, streamRequestId] =
          /:feed:([^/]*)\/([^/]*)\/([^/]*)$/.exec(feedKey(ref)) ?? [];
        expect([tenant, userId, streamRequestId].map((part) => decodeURIComponent(part ?? '?'))).toEqual([
          ref.tenant,
          ref.userId,
          ref.streamRequestId,
        ]);
      }),
    );
  });
});

describe('every name', () => {
  it('is printable ASCII without blanks, quotes or wildcards, with one hash tag', () => {
    fc.assert(
      fc.property(stream, (ref) => {
        for (const key of [...keysOf(ref), ...channelsOf(ref), probeChannel(ref.userId)]) {
          expect(key).toMatch(/^[\x21-\x7e]+$/);
          expect(key).not.toMatch(/["\\?[\]]/);
          expect(key.match(/[{}]/g)).toEqual(['{', '}']);
        }
      }),
    );
  });

  it('without an owner is plain too', () => {
    for (const key of [canaryKey(), ...buckets.map(deadlinesKey)]) {
      expect(key).toMatch(/^parley:\{[a-z0-9.]+\}:[a-z]+$/);
    }
  });

  it('of an elicitation takes well-formed ids only', () => {
    const id = mintElicitationId({ tenant: 'acme', userId: 'ada' });
    expect(elicitationKey(id).endsWith(`:elicitation:${id}`)).toBe(true);
    for (const bad of ['', 'x', `${id}x`, `${id}\n`, '../x'])
      expect(() => elicitationKey(bad)).toThrow(RangeError);
  });
});

function ownerOf({ tenant, userId }: { tenant: string; userId: string }) {
  return { tenant, userId };
}

function claimsThatMeet(one: Parameters<typeof keysOf>[0], other: Parameters<typeof keysOf>[0]): string[] {
  const meet =
    one.tenant === other.tenant &&
    `${one.userId}/${one.streamRequestId}` === `${other.userId}/${other.streamRequestId}`;
  return meet ? keysOf(one).slice(4) : [];
}

it('a key of what hosted pages keep does not contain the bearer’s value, and lies in its bucket', () => {
  for (const id of Array.from({ length: 50 }, (_, at) => `flow ${at}`)) {
    const key = pageEntryKey({ family: 'flow', id });
    expect(key).not.toContain(id);
    const { bucket = -1, family } = parseKey(key) ?? {};
    expect(family).toBe('connect-flow');
    expect(Math.floor(slotOf(hashTagOf(key) ?? '') / SLOTS_PER_BUCKET)).toBe(bucket);
  }
});
