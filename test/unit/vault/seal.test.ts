import { type KeyRing, parseVaultKeys } from '@parley/shared/vault/key-ring';
import { keyIdOf, rewrap, SealError, type SealIdentity, seal, unseal } from '@parley/shared/vault/seal';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

/** Names that try to look like others once they are joined. */
const name = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.string({ unit: fc.constantFrom(...'/|:",[]\\ab\0\n'), maxLength: 4 }),
  fc.constantFrom('', 'a', 'a|b', '","', '\\', '\ud800', '\ud801', '\ufffd', 'credential', 'staged'),
);
const identity = fc.record<SealIdentity>({
  purpose: fc.constantFrom('credential', 'staged'),
  recordId: name,
  tenant: name,
  userId: name,
  toolId: name,
  connectorId: name,
});
const text = fc.string({ unit: 'binary', maxLength: 300 });
const someone: SealIdentity = {
  purpose: 'credential',
  recordId: '',
  tenant: 'acme',
  userId: 'ada',
  toolId: 'issues',
  connectorId: 'github',
};

/** Equal ids are equal keys, but for a `seed` of their own. */
function ringOf(ids: readonly string[], seed = '.'): KeyRing {
  const { keys, faults } = parseVaultKeys(
    ids.map((id) => `${id}:${Buffer.from(id.padEnd(32, seed)).toString('base64')}`),
  );
  if (keys === undefined) throw new Error(faults.join('\n'));
  return keys;
}
const ring = ringOf(['one']);

function faultOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof SealError) return error.fault;
    throw error;
  }
  return 'none';
}

describe('a sealed value', () => {
  it('opens unchanged for the owner it was sealed for', () => {
    fc.assert(
      fc.property(identity, text, (who, what) => {
        expect(unseal(ring, who, seal(ring, who, what))).toBe(what);
      }),
    );
  });

  // Two random identities differ in several fields at once, so that they cannot show that each one counts.
  it.each(['purpose', 'recordId', 'tenant', 'userId', 'toolId', 'connectorId'] as const)(
    'opens for no identity that differs in its %s alone',
    (field) => {
      const records = fc.record({ who: identity, value: name, what: text });
      fc.assert(
        fc.property(records, ({ who, value, what }) => {
          const changed = field === 'purpose' ? (who.purpose === 'staged' ? 'flow' : 'staged') : value;
          fc.pre(changed !== who[field]);
          const other = { ...who, [field]: changed } as SealIdentity;
          const sealed = seal(ring, who, what);
          expect(faultOf(() => unseal(ring, other, sealed))).toBe('not_authentic');
          expect(faultOf(() => rewrap(ring, other, sealed))).toBe('not_authentic');
        }),
      );
    },
  );

  it('does not open for an owner whose names are equal only when joined', () => {
    const sealed = seal(ring, { ...someone, tenant: 'a', userId: 'b","c' }, 'x');
    for (const [tenant, userId] of [
      ['a","b', 'c'],
      ['a', 'b\\","c'],
      ['ab","c', ''],
    ] as const) {
      expect(faultOf(() => unseal(ring, { ...someone, tenant, userId }, sealed))).toBe('not_authentic');
    }
  });

  it('does not open when any character is changed', () => {
    const sealed = seal(ring, someone, 'a secret');
    const others = 'AQ-.é';
    for (let at = 0; at < sealed.length; at += 1) {
      for (const other of others) {
        if (sealed[at] === other) continue;
        const changed = `${sealed.slice(0, at)}${other}${sealed.slice(at + 1)}`;
        expect(
          faultOf(() => unseal(ring, someone, changed)),
          changed,
        ).toMatch(/^(malformed|unknown_key|not_authentic)$/);
      }
    }
  });

  it('does not open when any bit is changed', () => {
    const [version, keyId, ...boxes] = seal(ring, someone, 'a secret').split('.');
    for (const [which, box] of boxes.entries()) {
      const bytes = Buffer.from(box, 'base64url');
      for (let bit = 0; bit < bytes.length * 8; bit += 1) {
        const changed = Buffer.from(bytes);
        changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        const parts = boxes.with(which, changed.toString('base64url'));
        const fault = faultOf(() => unseal(ring, someone, [version, keyId, ...parts].join('.')));
        expect(fault).toBe('not_authentic');
      }
    }
  });

  it('does not open with parts missing, added, truncated or from another record', () => {
    const sealed = seal(ring, someone, 'a secret');
    const parts = sealed.split('.');
    const [, , wrappedKey = '', data = ''] = parts;
    const other = seal(ring, someone, 'a secret').split('.');
    const bad = [
      ...['', '.', '...', 'v1', 'null', '{}', `${sealed}.`, `${sealed}.A`, ` ${sealed}`, `${sealed}=`],
      parts.slice(0, 3).join('.'),
      parts.with(0, 'v2').join('.'),
      parts.with(2, '').join('.'),
      parts.with(3, '').join('.'),
      parts.with(2, data).with(3, wrappedKey).join('.'),
      parts.with(2, other[2] ?? '').join('.'),
      ...[1, 4, 16, 20].map((cut) => parts.with(3, data.slice(0, -cut)).join('.')),
    ];
    for (const each of bad)
      expect(
        faultOf(() => unseal(ring, someone, each)),
        each,
      ).toMatch(/^(malformed|not_authentic)$/);
  });

  it('does not open with another key, of another id or of the same', () => {
    const sealed = seal(ring, someone, 'a secret');
    expect(faultOf(() => unseal(ringOf(['two']), someone, sealed))).toBe('unknown_key');
    expect(faultOf(() => unseal(ringOf(['one'], '-'), someone, sealed))).toBe('not_authentic');
    const renamed = sealed.replace('v1.one.', 'v1.two.');
    const alias = { activeId: 'two', keyOf: () => ring.keyOf('one') };
    expect(faultOf(() => unseal(alias, someone, renamed))).toBe('not_authentic');
  });

  it('is different each time, and never contains its plain text', () => {
    const what = 'a secret of some length';
    const seals = Array.from({ length: 200 }, () => seal(ring, someone, what));
    for (const part of [2, 3]) {
      const boxes = seals.map((sealed) => Buffer.from(sealed.split('.')[part] ?? '', 'base64url'));
      expect(new Set(boxes.map((box) => box.subarray(0, 12).toString('hex'))).size).toBe(200);
      expect(new Set(boxes.map((box) => box.subarray(12).toString('hex'))).size).toBe(200);
      for (const box of boxes) expect(box.includes(what)).toBe(false);
    }
  });

  it('names the key it needs', () => {
    expect(keyIdOf(seal(ring, someone, 'x'))).toBe('one');
    expect(faultOf(() => keyIdOf('something'))).toBe('malformed');
  });
});

describe('a change of keys', () => {
  it('keeps sealed values readable, and the old key may be removed', () => {
    fc.assert(
      fc.property(identity, text, (who, what) => {
        const sealed = seal(ring, who, what);
        const moved = rewrap(ringOf(['two', 'one']), who, sealed);
        expect(keyIdOf(moved)).toBe('two');
        expect(unseal(ringOf(['two']), who, moved)).toBe(what);
        expect(faultOf(() => unseal(ring, who, moved))).toBe('unknown_key');
        // The data is not touched, only the key that opens it.
        expect(moved.split('.')[3]).toBe(sealed.split('.')[3]);
      }),
    );
  });

  it('needs the old key', () => {
    expect(faultOf(() => rewrap(ringOf(['two']), someone, seal(ring, someone, 'x')))).toBe('unknown_key');
  });
});
