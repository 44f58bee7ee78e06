import type { Json } from '../state.ts';
import { blockHtml } from './block-kit.ts';

const MARKS: Readonly<Record<string, string>> = { b: '*', i: '_', s: '~', code: '`' };

/**
 * What a person reads in the blocks of a message, as text: the drawn HTML, with `*` around bold text, `_` around italics, `~`
 * around struck text, lines of ``` around blocks of code, `│` before quotes, and the addresses of links in brackets.
 */
export function textOfBlocks(blocks: readonly Json[]): string {
  return blocks
    .map((block) => textOfHtml(blockHtml(block)))
    .join('\n')
    .replace(/\n$/u, '');
}

function textOfHtml(html: string): string {
  const text = html
    .replace(/<pre class="bordered">([\s\S]*?)<\/pre>/gu, (_, code: string) =>
      quoted(`\`\`\`\n${code}\n\`\`\``),
    )
    .replace(/<pre>([\s\S]*?)<\/pre>/gu, '```\n$1\n```\n')
    .replace(
      /<div class="item" data-level="(\d+)"[^>]*><span>([^<]*)<\/span><div[^>]*>([\s\S]*?)<\/div><\/div>/gu,
      itemText,
    )
    .replace(/<div class="bordered">([\s\S]*?)<\/div>/gu, (_, items: string) => quoted(items.trimEnd()))
    .replace(/<blockquote[^>]*>([\s\S]*?)<\/blockquote>/gu, (_, inner: string) => quoted(inner))
    .replace(/<a href="([^"]*)">([\s\S]*?)<\/a>/gu, (_, url: string, label: string) =>
      url === label ? url : `${label} [${url}]`,
    )
    .replace(/<hr>/gu, '────\n')
    .replace(/<\/?(b|i|s|code)>/gu, (_, tag: string) => MARKS[tag] ?? '')
    .replace(/<div class="section">([\s\S]*?)<\/div>/gu, '$1\n')
    .replace(/<div dir="auto">([\s\S]*?)<\/div>/gu, '$1\n')
    .replace(/<[^>]*>/gu, '');
  return text
    .replace(/&#(\d+);/gu, (_, code: string) => String.fromCodePoint(Number(code)))
    .replace(/\n$/u, '');
}

function itemText(_: string, level: string, mark: string, inner: string): string {
  const pad = '  '.repeat(Number(level));
  return `${pad}${mark} ${inner.replaceAll('\n', `\n${pad}  `)}\n`;
}

function quoted(text: string): string {
  return `${text
    .split('\n')
    .map((line) => `│ ${line}`)
    .join('\n')}\n`;
}
