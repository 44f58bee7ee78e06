import { bucketOf } from '@parley/core/domain/ids';
import { readEnv } from '@parley/shared/config/env';
import { vaultLocation } from '@parley/shared/config/redis-env';
import { parseKey } from '@parley/shared/redis/client/key-names';
import { tagOf } from '@parley/shared/redis/client/keys';
import {
  credentialKey,
  flowMember,
  flowsKeyOf,
  leaseKey,
  parseFlowMember,
  parseRecordKey,
  stagedKey,
  VAULT_KEYS,
} from '@parley/shared/redis/vault/keys';
import { createDevelopmentKeyRing, parseVaultKeys } from '@parley/shared/vault/key-ring';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

const KEY = Buffer.from('0123456789abcdef0123456789abcdef').toString('base64');
const OTHER = Buffer.from('fedcba9876543210fedcba9876543210').toString('base64');

describe('the master keys', () => {
  it('seal with the first and open with all', () => {
    const { keys } = parseVaultKeys([`2026-11:${KEY}`, `2025:${OTHER}`]);
    expect(keys?.activeId).toBe('2026-11');
    expect(keys?.keyOf('2026-11')?.export().toString('base64')).toBe(KEY);
    expect(keys?.keyOf('2025')?.export().toString('base64')).toBe(OTHER);
    expect(keys?.keyOf('2024')).toBeUndefined();
    expect(keys?.keyOf('constructor')).toBeUndefined();
  });

  it('may be written as base64url, and without padding', () => {
    const bytes = Buffer.alloc(32, 0xfb).fill(0xef, 16);
    for (const text of [bytes.toString('base64'), bytes.toString('base64url')]) {
      const { keys } = parseVaultKeys([`k:${text}`]);
      expect(keys?.keyOf('k')?.export().equals(bytes)).toBe(true);
    }
  });

  it.each([
    ['none', [], 'is required'],
    ['a key without an id', [KEY], 'entry 1 has no id'],
    ['an empty id', [`:${KEY}`], 'entry 1 has an id that is not'],
    ['an id with a dot', [`a.b:${KEY}`], 'entry 1 has an id that is not'],
    ['an id twice', [`a:${KEY}`, `a:${OTHER}`], 'entry 2 has the id of an entry before it'],
    ['a key twice', [`a:${KEY}`, `b:${KEY}`], 'entry 2 holds the key of an entry before it'],
    ['a short key', [`a:${Buffer.alloc(16, 7).toString('base64')}`], 'must hold 32 random bytes'],
    ['a long key', [`a:${KEY.slice(0, -1)}AAAA`], 'must hold 32 random bytes'],
    ['no base64', ['a:0123456789abcdef0123456789abcdef!!'], 'must hold 32 random bytes'],
    ['no key', ['a:'], 'must hold 32 random bytes'],
    ['zeros', [`a:${Buffer.alloc(32).toString('base64')}`], 'one byte 32 times'],
  ])('are refused with an explanation: %s', (_title, entries, words) => {
    const { keys, faults = [] } = parseVaultKeys(entries);
    expect(keys).toBeUndefined();
    expect(faults.join('\n')).toContain(words);
    for (const fault of faults) {
      expect(fault).toMatch(/^PARLEY_VAULT_KEYS: /);
      for (const entry of entries) expect(fault).not.toContain(entry.slice(entry.indexOf(':') + 1) || '?');
    }
  });

  it('are refused with all faults at once', () => {
    expect(parseVaultKeys(['x', `a:${KEY}`, `a:${KEY}`]).faults).toHaveLength(4);
  });

  it('of development are generated with a warning, and differ each time', () => {
    const words: string[] = [];
    const rings = [0, 1].map(() => createDevelopmentKeyRing((text) => words.push(text)));
    expect(words).toHaveLength(2);
    expect(words[0]).toContain('PARLEY_VAULT_KEYS');
    const [one, other] = rings.map((ring) => ring.keyOf(ring.activeId)?.export().toString('hex'));
    expect(one).toMatch(/^[0-9a-f]{64}$/);
    expect(other).not.toBe(one);
  });
});

describe('the variables of the vault', () => {
  it('choose where credentials are stored', () => {
    const main = { REDIS_URL: 'redis://main:6379' };
    const own = { PARLEY_VAULT_REDIS_URL: 'rediss://vault:6379' };
    expect(vaultLocation(readEnv('api', {}))).toBeUndefined();
    expect(vaultLocation(readEnv('api', main))).toEqual({ kind: 'single', url: main.REDIS_URL });
    expect(vaultLocation(readEnv('api', { ...main, ...own }))).toEqual({
      kind: 'single',
      url: own.PARLEY_VAULT_REDIS_URL,
    });
  });
});

/** Names that try to look like others once they are joined. */
const name = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.string({ unit: fc.constantFrom(...'/:%{}.*ab2F \n\r\t\0'), maxLength: 6 }),
  fc.constantFrom('', '/', '%2F', '%252F', 'a/b', '{x}', ':credential:', '-staged'),
);
const flow = fc.record({ tenant: name, userId: name, toolId: name, connectorId: name, flowId: name });

describe('the names of credentials in Redis', () => {
  it('lie in the slot of their owner', () => {
    fc.assert(
      fc.property(flow, (ref) => {
        const tag = `parley:{${tagOf(bucketOf(ref))}}:credential`;
        for (const key of [credentialKey(ref), stagedKey(ref), leaseKey(ref), flowsKeyOf(ref)]) {
          expect(key.startsWith(tag)).toBe(true);
          expect(key).toMatch(/^[\x21-\x7e]+$/);
          expect(key.match(/[{}]/g)).toEqual(['{', '}']);
        }
      }),
    );
    expect(VAULT_KEYS).toBe('parley:{b*}:credential*');
  });

  it('can be parsed to the record, and only if they name one', () => {
    fc.assert(
      fc.property(flow, (ref) => {
        const { flowId: _, ...credential } = ref;
        const recordOf = (key: string) => {
          const parsed = parseKey(key);
          return parsed && parseRecordKey(parsed);
        };
        expect(recordOf(credentialKey(ref))).toEqual({ kind: 'credential', ref: credential });
        expect(recordOf(stagedKey(ref))).toEqual({ kind: 'staged', ref });
        expect(recordOf(leaseKey(ref))).toBeUndefined();
        expect(recordOf(flowsKeyOf(ref))).toBeUndefined();
        expect(parseFlowMember(flowMember(ref))).toEqual(ref);
      }),
    );
    for (const bad of ['', 'a/b/c/d', 'a/b/c/d/e/f', 'a/b/c/d/%'])
      expect(parseFlowMember(bad)).toBeUndefined();
  });
});
