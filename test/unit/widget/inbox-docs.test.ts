import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { GERMAN } from '../../../clients/widget/src/strings/de.ts';

const root = new URL('../../../', import.meta.url);
const docs = readFileSync(new URL('docs/widget.md', root), 'utf8');
const folder = new URL('clients/widget/src/', root);
const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => ({ name, text: readFileSync(new URL(name, folder), 'utf8') }));

/** All first groups of a pattern, each once, sorted. */
const found = (text: string, pattern: RegExp) =>
  [...new Set([...text.matchAll(pattern)].map(([, group = '']) => group))].sort();
const sectionOf = (title: string) => docs.split(/^## /mu).find((section) => section.startsWith(title)) ?? '';
const textOf = (isMeant: (name: string) => boolean) =>
  sources.flatMap(({ name, text }) => (isMeant(name) ? [text] : [])).join('\n');
const isOfInbox = (name: string) => name.startsWith('inbox');
const isOfApproval = (name: string) => name.startsWith('approval-card/');

describe('docs/widget.md names, and names no other', () => {
  it.each([
    ['`<elicitation-card>`', (name: string) => !isOfInbox(name) && !isOfApproval(name)],
    ['`<approval-card>`', (name: string) => isOfApproval(name) || name.startsWith('form/')],
    ['`<elicitation-inbox>`', isOfInbox],
  ] as const)('the parts of %s', (title, isMeant) => {
    const text = textOf(isMeant);
    const parts = found(text, /\bpart="([a-z]+)"/gu);
    const [, list = ''] = /\nParts[^:]*: ([\s\S]*?)\n\n/u.exec(sectionOf(title)) ?? [];
    const listed = found(list, /`([a-z]+)`/gu);
    expect(parts.filter((part) => !listed.includes(part))).toEqual([]);
    // Some are given by their name to what draws several.
    expect(listed.filter((part) => !new RegExp(`["'\\s{]${part}["':,]`, 'u').test(text))).toEqual([]);
    expect(parts.length).toBeGreaterThan(0);
  });

  it('the custom properties', () => {
    const properties = found(
      textOf((name) => name.endsWith('styles.ts')),
      /var\((--parley-[a-z-]+)/gu,
    );
    expect(found(docs, /(--parley-[a-z-]+)/gu)).toEqual(properties);
  });

  it('the words', () => {
    const table = /\| keys of `Strings`[\s\S]*?\n\n/u.exec(docs)?.[0] ?? '';
    const keys = found(table.replace('`Strings`', ''), /`([a-zA-Z]+)`/gu);
    const users = textOf((name) => !name.startsWith('strings'));
    const all = Object.keys(GERMAN).filter((key) => key !== 'lang');
    const used = all.filter((key) => new RegExp(`\\.${key}\\b`, 'u').test(users));
    expect(keys.filter((key) => !all.includes(key))).toEqual([]);
    expect(used.filter((key) => !keys.includes(key))).toEqual([]);
  });

  it('the states', () => {
    const [, type = ''] =
      /type CardState =([\s\S]*?);/u.exec(textOf((name) => name === 'card/state.ts')) ?? [];
    const states = found(type.replace("['status']", ''), /'([a-z]+)'/gu);
    const table = /\| `data-state`[\s\S]*?\n\n/u.exec(docs)?.[0] ?? '';
    const statuses = ['pending', 'opened', 'accepted', 'declined', 'cancelled', 'expired', 'withdrawn'];
    expect(found(table.replace('`data-state`', ''), /`([a-z]+)`/gu)).toEqual([...states, ...statuses].sort());
  });

  it('the properties and attributes of the elements', () => {
    for (const [title, file] of [
      ['`<elicitation-card>`', 'card/card.ts'],
      ['`<elicitation-inbox>`', 'inbox.ts'],
      ['`<approval-card>`', 'approval-card/card.ts'],
    ] as const) {
      const text = textOf((name) => name === file);
      const [, block = ''] = /static override properties = \{([\s\S]*?)\n {2}\};/u.exec(text) ?? [];
      const table = /\| property \| attribute[\s\S]*?\n\n/u.exec(sectionOf(title))?.[0] ?? '';
      const documented = table
        .split('\n')
        .slice(2)
        .flatMap((row) => found(row.split('|')[1] ?? '', /`([a-zA-Z]+)`/gu));
      const declared = found(block, /^ {4}([a-zA-Z]+): /gmu);
      expect(declared.filter((name) => !documented.includes(name))).toEqual([]);
    }
  });
});
