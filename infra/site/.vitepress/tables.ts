import type { MarkdownRenderer } from 'vitepress';

/** Renders an empty heading of a table, its corner, as a cell, since it is the heading of nothing. */
export function renderCornersAsCells({ renderer }: MarkdownRenderer): void {
  renderer.rules.th_open = (tokens, at, options) =>
    tokens[at + 1]?.content === '' ? '<td>' : renderer.renderToken(tokens, at, options);
  renderer.rules.th_close = (tokens, at) => (tokens[at - 1]?.content === '' ? '</td>\n' : '</th>\n');
}
