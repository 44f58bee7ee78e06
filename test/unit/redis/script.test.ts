import { loadNamedScript, scriptSource } from '@parley/shared/redis/client/script';
import { describe, expect, it } from 'vitest';
import { luaFile, PIECES, SCRIPTS } from '../../harness/redis/scripts.ts';

describe('the source of a script', () => {
  it('begins with the pieces that its first line requires, in their order', () => {
    const source = scriptSource('elicitations/commit');
    const parts = [
      'local function readClock()',
      'local function appendEvents(',
      '-- requires: client/clock, feed/append',
    ];
    const positions = parts.map((part) => source.indexOf(part));
    expect(positions.every((position) => position >= 0)).toBe(true);
    expect(positions).toEqual(positions.toSorted((a, b) => a - b));
  });

  it('is the file alone where nothing is required', () => {
    expect(scriptSource('feed/publish')).not.toContain('local function');
  });

  it('cannot be built when a required piece is missing', () => {
    expect(() => scriptSource('../../../test/unit/redis/fixtures/missing-piece')).toThrow(
      'requires client/no-such-piece.lua, which cannot be read',
    );
  });

  it.each(PIECES)('%s defines local functions only and requires nothing', (name) => {
    const statements = luaFile(name)
      .split('\n')
      .filter((line) => /^\S/.test(line) && !line.startsWith('--') && line !== 'end');
    expect(statements.every((line) => line.startsWith('local function '))).toBe(true);
    expect(luaFile(name)).not.toContain('-- requires:');
  });

  it.each(SCRIPTS)('%s names its arguments before it uses them', (name) => {
    const code = luaFile(name)
      .split('\n')
      .filter((line) => !line.startsWith('--'));
    const firstCommand = code.findIndex(
      (line) => line.includes('redis.call') || line.includes('redis.pcall'),
    );
    const later = code.slice(firstCommand).join('\n');
    expect(later).not.toMatch(/(ARGV|KEYS)\[\d+\]/);
  });

  it.each([
    ['runs/begin', 'keys', 'key'],
    ['runs/begin', 'args', 'arg'],
    ['runs/write', 'keys', 'key'],
    ['runs/write', 'args', 'arg'],
  ])('%s reads all the %s that it lists, and no others', (name, kind, table) => {
    const lists = luaFile(name).matchAll(new RegExp(`^-- ${kind}: (.+)$`, 'gm'));
    const listed = [...lists].flatMap(([, names = '']) => names.split(' '));
    const read = scriptSource(name).matchAll(new RegExp(`\\b${table}\\.(\\w+)`, 'g'));
    expect([...new Set([...read].map(([, each]) => each))].toSorted()).toEqual(listed.toSorted());
  });

  it('is not called without something that it reads by name', async () => {
    const call = loadNamedScript({} as Parameters<typeof loadNamedScript>[0], 'runs/begin');
    expect(() => call({ keys: {}, args: {} })).toThrow('The script runs/begin.lua is called without run.');
  });
});
