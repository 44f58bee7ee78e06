import { AskInput, CallerId } from '@parley/core/domain/elicitations/ask-input';
import {
  BUCKET_COUNT,
  bucketOf,
  bucketOfElicitationId,
  bucketOfName,
  elicitationOfOwnStream,
  isCallerId,
  isReferenceId,
  mintElicitationId,
  mintStreamRequestId,
  ownStreamOf,
} from '@parley/core/domain/ids';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

const text = fc.string({ unit: 'grapheme', maxLength: 40 });
const owner = fc.record({ tenant: text, userId: text });

describe('a minted id', () => {
  it('contains the bucket of its owner and nothing else about the owner', () => {
    fc.assert(
      fc.property(owner, (who) => {
        const id = mintElicitationId(who);
        expect(id).toMatch(/^el_[0-9]{2}[A-Za-z0-9_-]{22}$/);
        expect(bucketOfElicitationId(id)).toBe(bucketOf(who));
        expect(isReferenceId(id)).toBe(true);
        expect(isCallerId(id)).toBe(false);
      }),
    );
  });

  it('draws all of its 128 bits', () => {
    const seen = Array.from({ length: 22 }, () => new Set<string>());
    // That one of 64 letters is missing at one of the places by chance is less likely than one in ten thousand million.
    for (let count = 0; count < 2_000; count += 1) {
      for (const [at, letter] of [...mintStreamRequestId().slice('sr_'.length)].entries())
        seen[at]?.add(letter);
    }
    // 21 letters of six bits, and the last one of two.
    expect(seen.slice(0, 21).every((letters) => letters.size === 64)).toBe(true);
    expect(seen[21]?.size).toBe(4);
  });

  it('of a stream begins with sr_ and cannot be chosen by a caller', () => {
    const id = mintStreamRequestId();
    expect(id).toMatch(/^sr_[A-Za-z0-9_-]{22}$/);
    expect([isReferenceId(id), isCallerId(id)]).toEqual([true, false]);
  });
});

describe('the own stream request of a question', () => {
  it('names its elicitation, and can be neither chosen by a caller nor minted for a turn', () => {
    fc.assert(
      fc.property(owner, (who) => {
        const id = mintElicitationId(who);
        const stream = ownStreamOf(id);
        expect(elicitationOfOwnStream(stream)).toBe(id);
        expect([isReferenceId(stream), isCallerId(stream)]).toEqual([true, false]);
        expect(elicitationOfOwnStream(mintStreamRequestId())).toBeUndefined();
      }),
    );
    for (const text of ['', 'sr_', 'checkout-42', mintElicitationId({ tenant: 'acme', userId: 'ada' })])
      expect(elicitationOfOwnStream(text)).toBeUndefined();
  });
});

describe('an elicitation id', () => {
  const random = 'A'.repeat(22);
  it.each([
    ...['', 'el_', `el_64${random}`, `el_99${random}`, `el_-1${random}`, `el_0${random}`],
    ...[`el_00${random}A`, `el_00${random.slice(1)}`, `EL_00${random}`, `el_00${random}\n`],
    ...[` el_00${random}`, `el_00${random.slice(1)}=`, `el_00${random.slice(1)}/`, `el_٠٠${random}`],
    `sr_${random}`,
  ])('is not %j', (id) => {
    expect(bucketOfElicitationId(id)).toBeUndefined();
  });

  it('is recognised at both ends of the buckets', () => {
    expect(bucketOfElicitationId(`el_00${random}`)).toBe(0);
    expect(bucketOfElicitationId(`el_63${random}`)).toBe(63);
  });
});

describe('a bucket', () => {
  // The location of stored rows depends on this: another hash would lose them all.
  it.each([
    [{ tenant: 'default', userId: 'ada' }, 33],
    [{ tenant: 'acme', userId: 'grace@example.com' }, 54],
    [{ tenant: 'acme', userId: 'Zoë 🦜' }, 44],
    [{ tenant: '', userId: '' }, 27],
  ])('of %j is always %i', (who, bucket) => {
    expect(bucketOf(who)).toBe(bucket);
  });

  it('is one of 64', () => {
    fc.assert(
      fc.property(owner, ({ tenant, userId }) => {
        for (const bucket of [bucketOf({ tenant, userId }), bucketOfName(tenant, userId)]) {
          expect(Number.isInteger(bucket) && bucket >= 0 && bucket < BUCKET_COUNT).toBe(true);
        }
      }),
    );
  });

  it.each<[string, (index: number) => number]>([
    ['users with running numbers', (index) => bucketOf({ tenant: 'acme', userId: `user-${index}` })],
    ['tenants with running numbers', (index) => bucketOf({ tenant: `t${index}`, userId: 'admin' })],
    ['addresses', (index) => bucketOf({ tenant: 'default', userId: `${index}@example.com` })],
    ['stream names', (index) => bucketOfName('default', `sr_${index}`)],
  ])('gets an even share of %s', (_, bucketAt) => {
    const each = 200;
    const counts = new Array<number>(BUCKET_COUNT).fill(0);
    for (let index = 0; index < each * BUCKET_COUNT; index += 1) {
      const bucket = bucketAt(index);
      counts[bucket] = (counts[bucket] ?? 0) + 1;
    }
    // The same in every run. Of random shares, chi squared with 63 degrees of freedom is above 120 once in a hundred thousand.
    const chi = counts.reduce((sum, count) => sum + (count - each) ** 2 / each, 0);
    expect(chi).toBeLessThan(120);
  });
});

describe('an id that a caller chooses', () => {
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-'];

  it('is 1 to 128 of A-Z a-z 0-9 . _ -', () => {
    const chosen = fc
      .string({ unit: fc.constantFrom(...letters), minLength: 1, maxLength: 128 })
      .filter((id) => !/^\.{1,2}$/.test(id));
    fc.assert(
      fc.property(chosen, (id) => {
        expect(isReferenceId(id)).toBe(true);
        expect(isCallerId(id)).toBe(!/^(el|sr)_/.test(id));
        expect(CallerId.safeParse(id).success).toBe(isCallerId(id));
      }),
    );
  });

  it('holds no other character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }), (id) => {
        expect(isReferenceId(id)).toBe([...id].every((letter) => letters.includes(letter)));
      }),
    );
  });

  it.each([
    '',
    'a'.repeat(129),
    ...['a b', 'a/b', 'a:b', '{a}', 'a%2f', 'ä', 'a\n', '\u0000', 'el_x', 'sr_', 'a\u200b'],
  ])('is not %j', (id) => {
    expect(isCallerId(id)).toBe(false);
    const ask = { userId: 'ada', mode: 'form', message: 'Hello?', streamRequestId: id };
    expect(AskInput.safeParse(ask).success).toBe(false);
  });

  it('may contain text that only looks like a prefix', () => {
    expect(['EL_x', 'elx', 'xel_', 'el-', '...', '.a', 'SR_1'].every(isCallerId)).toBe(true);
    expect(['.', '..'].some((id) => isCallerId(id) || isReferenceId(id))).toBe(false);
  });
});
