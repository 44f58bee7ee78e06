import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createReply } from '../../../services/api/src/surfaces/slack/mapping/reply.ts';
import { faultOfMessage } from '../../harness/slack/blocks.ts';
import { textOfBlocks } from '../../harness/slack/draw/text.ts';
import type { Json } from '../../harness/slack/state.ts';

/** Markdown documents, each with what a person reads in Slack: see `textOfBlocks`. */
const DOCUMENTS = readFileSync(new URL('documents.txt', import.meta.url), 'utf8')
  .split(/^%% (?!shown)/mu)
  .slice(1)
  .map((document) => {
    const [, name = '', markdown = '', shown = ''] =
      /^(.*)\n([\s\S]*)\n%% shown\n([\s\S]*)\n$/u.exec(document) ?? [];
    return { name, markdown, shown };
  });

/** The messages of an agent that wrote this text and has ended. */
function messagesOf(markdown: string) {
  const reply = createReply();
  const place = { id: '', isKnown: false, isWaiting: false };
  reply.take({ ...place, type: 'turn', event: { type: 'text-delta', block: 'b', text: markdown } });
  reply.take({ ...place, type: 'turn', event: { type: 'turn-finished', reason: 'stop' } });
  const messages = reply.messages('sr_1');
  for (const message of messages) expect(faultOfMessage({ ...message })).toBeUndefined();
  return messages.map(({ text, blocks }) => ({ text, blocks: blocks as unknown as Json[] }));
}

/** What stands in blocks of code, in order. */
function codeIn(messages: ReturnType<typeof messagesOf>): string {
  return messages
    .flatMap(({ blocks }) => blocks)
    .flatMap(({ elements }) => elements as Json[])
    .filter(({ type }) => type === 'rich_text_preformatted')
    .flatMap(({ elements }) => elements as Json[])
    .map(({ text }) => text)
    .join('');
}

describe('Markdown of an agent in Slack', () => {
  it.each(DOCUMENTS)('$name', ({ markdown, shown }) => {
    const messages = messagesOf(markdown);
    expect(messages.map(({ blocks }) => textOfBlocks(blocks)).join('\n')).toBe(shown);
    // The text for notifications is mrkdwn.
    expect(messages.map(({ text }) => text).join()).not.toContain('<');
  });

  it('has at least fifty documents', () => {
    expect(DOCUMENTS.length).toBeGreaterThanOrEqual(50);
  });

  it.each([
    ['lines', 'const x = 2**10; // <@U1>\n'.repeat(1_500)],
    ['one line', '*a* & "b" '.repeat(3_000)],
    ['characters of two halves', '😀\\'.repeat(8_000)],
  ])('brings long code of %s byte for byte, in blocks that are closed and opened again', (_what, code) => {
    const messages = messagesOf(`Before\n\`\`\`\`\n${code}\n\`\`\`\`\nafter`);
    expect(messages.length).toBeGreaterThan(2);
    expect(codeIn(messages)).toBe(code);
    expect(textOfBlocks(messages.at(-1)?.blocks ?? [])).toMatch(/after$/);
  });

  it.each([
    ['a paragraph', 'word **bold** '.repeat(2_000), 4_000],
    ['a list', '- item `code`\n'.repeat(1_500), 3_000],
    ['an item', `- ${'word **bold** '.repeat(2_000)}`, 4_000],
    ['a quote', '> line **bold**\n'.repeat(1_500), 3_000],
    ['a table', `|a|b|\n|-|-|\n${'| one | two |\n'.repeat(1_500)}`, 3_002],
    ['a text beyond what is parsed', 'word '.repeat(30_000), 30_000],
  ])('cuts %s that is too long for one message, and loses no word', (_what, markdown, count) => {
    const messages = messagesOf(markdown);
    expect(messages.length).toBeGreaterThan(1);
    const text = messages.map(({ blocks }) => textOfBlocks(blocks)).join('\n');
    expect(text.match(/word|bold|item|code|line|one|two|\ba\b|\bb\b/gu)).toHaveLength(count);
  });

  it.each([
    ['a quote that is too deep', `a\n\n${'> '.repeat(120)}word`],
    ['a list that is too deep', Array.from({ length: 60 }, (_, at) => `${'  '.repeat(at)}- word`).join('\n')],
    ['words of many styles', '*a*b'.repeat(8_000)],
    [
      'a long address in many links',
      `[a]: https://example.com/${'b'.repeat(1_900)}\n\n${'[a] '.repeat(20_000)}`,
    ],
    ['a long heading of many rows', `|${'a'.repeat(9_000)}|\n|-|\n${'|b|\n'.repeat(9_000)}`],
    ['a wide table of short rows', `|${'a'.repeat(70)}|b|\n|-|-|\n${'a|b\n'.repeat(10_000)}`],
  ])('shows %s as it is written', (_what, markdown) => {
    const messages = messagesOf(markdown);
    expect(
      messages
        .map(({ blocks }) => textOfBlocks(blocks))
        .join('')
        .replaceAll('\n', ''),
    ).toBe(markdown.replaceAll('\n', ''));
  });

  it.each([
    ['rules in a quote', '> ---\n>\n'.repeat(120)],
    ['rules in an item', `- a\n${'  ---\n\n'.repeat(120)}`],
    ['rules between the lines of a quote', '> a\n>\n> ***\n>\n'.repeat(30)],
    ['a link of control characters', `[${'\u0001'.repeat(2_000)}](https://a.b/${'c'.repeat(1_900)})`],
    ['half of a character', `${'a'.repeat(49_999)}😀`],
  ])('brings %s in messages that Slack takes', (_what, markdown) => {
    expect(JSON.stringify(messagesOf(markdown))).not.toContain('\\ud');
  });

  it('keeps the address of a link with a long text', () => {
    const [message] = messagesOf(`[${'word '.repeat(500)}](https://a.b/c)`);
    expect(textOfBlocks(message?.blocks ?? [])).toMatch(/word +\(https:\/\/a\.b\/c\)$/u);
  });

  it('shows one table as it is written that would fill many messages, and what is around it formed', () => {
    const head = `|${Array.from({ length: 10 }, (_, at) => `A heading of column ${at} with some words|`).join('')}\n`;
    const table = (rows: number) => `${head}|${'-|'.repeat(10)}\n${`|${'1|'.repeat(10)}\n`.repeat(rows)}`;
    const text = messagesOf(`# Title\n\n${table(25)}\n${table(200)}\n**after**`)
      .map(({ blocks }) => textOfBlocks(blocks))
      .join('\n');
    expect(text).toMatch(/^\*Title\*\n/u);
    expect(text.match(/with some words: \*1/gu)).toHaveLength(250);
    expect(text.replaceAll('\n', '')).toContain(table(200).replaceAll('\n', ''));
    expect(text).toMatch(/\*after\*$/u);
  });

  it('parses as much of a turn as of one text', () => {
    const reply = createReply();
    const place = { id: '', isKnown: false, isWaiting: false };
    const text = `${'word '.repeat(5_998)}**bold**\n\n`;
    for (const block of ['a', 'b', 'c'])
      reply.take({ ...place, type: 'turn', event: { type: 'text-delta', block, text } });
    const shown = reply.messages('sr_1').map(({ blocks }) => textOfBlocks(blocks as unknown as Json[]));
    expect(shown.join('\n').match(/\*+bold\*+/gu)).toEqual(['*bold*', '**bold**', '**bold**']);
  });

  it('numbers a list on in the next message', () => {
    const messages = messagesOf(Array.from({ length: 900 }, (_, at) => `${at + 1}. n${at + 1}`).join('\n'));
    const lines = messages
      .map(({ blocks }) => textOfBlocks(blocks))
      .join('\n')
      .split('\n');
    expect(lines).toEqual(Array.from({ length: 900 }, (_, at) => `${at + 1}. n${at + 1}`));
  });

  it('is never refused and pings nobody, whatever is written', () => {
    const unit = fc.constantFrom(
      'a',
      ' ',
      '\n',
      '\n\n',
      '*',
      '**',
      '_',
      '`',
      '```',
      '~~',
      '[',
      '](http://a.b)',
      '<!channel>',
      '<@U1>',
      '|',
      '|-|\n',
      '- ',
      '1. ',
      '> ',
      '# ',
      '&lt;',
      '\\',
      '😀',
      '\u05d0',
      '"',
      '---\n',
      '\u0001',
      '[a]: http://a.b\n',
      '<br>',
    );
    const long = fc.tuple(unit, unit, fc.integer({ min: 1, max: 400 }));
    const some = fc.oneof(
      { weight: 9, arbitrary: unit },
      { weight: 1, arbitrary: long.map(([one, other, times]) => `${one}${other}`.repeat(times)) },
    );
    fc.assert(
      fc.property(fc.array(some, { maxLength: 60 }), (units) => {
        const messages = messagesOf(units.join(''));
        expect(messages.map(({ text }) => text).join()).not.toContain('<');
        const json = JSON.stringify(messages.map(({ blocks }) => blocks));
        expect(json).not.toMatch(/"type":"(?:user|usergroup|channel|broadcast)"|"mrkdwn","text":"[^_]/u);
      }),
      { numRuns: 300 },
    );
  });
});
