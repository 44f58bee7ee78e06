import type { MarkdownRenderer } from 'vitepress';

/** Renders the empty corner heading of a table as an ordinary cell, because it is the heading of nothing. */
export function renderCornersAsCells({ renderer }: MarkdownRenderer): void {
  renderer.rules.th_open = (tokens, at, options) =>
    tokens[at + 1]?.content === '' ? '<td>' : renderer.renderToken(tokens, at, options);
  renderer.rules.th_close = (tokens, at) => (tokens[at - 1]?.content === '' ? '</td>\n' : '</th>\n');
}
