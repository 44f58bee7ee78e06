import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { STATUSES } from '@parley/core/domain/elicitations/status';
import { ERROR_CODES } from '@parley/core/domain/errors';
import { describe, expect, it } from 'vitest';
import { cliPage } from '../../../infra/docs/doctor-table.ts';
import { anchorsIn, isElsewhere, linksIn, mapLinks, resolveLink } from '../../../infra/site/links.ts';
import { readmeWithPages } from '../../../infra/site/lists.ts';
import { groupsOf, mainGroupsOf, sitePathOf } from '../../../infra/site/navigation.ts';
import { withSequencesAsTables } from '../../../infra/site/sequences.ts';
import { STATUS_OF } from '../../../services/api/src/http/problem.ts';
import { CELLS } from '../../harness/tables/elicitation-transitions.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const read = (path: string) => readFileSync(`${root}${path}`, 'utf8');
const listed = groupsOf(root).flatMap(({ pages }) => pages.map(({ path }) => path));

function pagesOfRepository(): string[] {
  const below = (folder: string) =>
    readdirSync(`${root}${folder}`, { recursive: folder === 'docs', encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}/${name}`.replace('./', ''));
  const packages = ['clients', 'services'].flatMap((folder) =>
    readdirSync(`${root}${folder}`).map((name) => `${folder}/${name}`),
  );
  return ['.', 'docs', 'examples', ...packages].flatMap(below);
}

describe('the navigation of the site', () => {
  it('has every page exactly once, each at a path of its own', () => {
    expect(listed.toSorted()).toEqual(pagesOfRepository().toSorted());
    expect(new Set(listed.map(sitePathOf)).size).toBe(listed.length);
  });
});

/** Paragraphs, items of lists and cells of tables, without code, comments and headings. */
function paragraphsOf(page: string): string[] {
  const prose = read(page)
    .replaceAll(/^( *)```[\s\S]*?^\1``` *$/gm, '')
    .replaceAll(/<!--[\s\S]*?-->/g, '')
    .replaceAll(/^#.*$/gm, '\n');
  return prose
    .split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )|\n(?=\|)/)
    .flatMap((block) => (block.trimStart().startsWith('|') ? block.split(/(?<!\\)\|/) : [block]));
}

// Reports state measurements, and the changelog grows by lines.
it.each(listed.filter((page) => !/^docs\/reports|^CHANGELOG/.test(page)))(
  '%s has no wall of text',
  (page) => {
    const words = (text: string) => text.split(/\s+/).filter(Boolean).length;
    expect(paragraphsOf(page).filter((text) => words(text) > 80)).toEqual([]);
  },
);

it('llms.txt begins as README.md does, and is nothing but the list of pages after it', () => {
  const [, opening = ''] = /^# Parley\n\n([\s\S]*?)\n\n/.exec(read('README.md')) ?? [];
  const groups = mainGroupsOf(root).map(({ title, pages }) =>
    [
      `## ${title}\n`,
      ...pages.map(({ path, title: name, about }) => `- [${name}](${path}): ${about}`),
      '',
    ].join('\n'),
  );
  expect(read('llms.txt')).toBe(['# Parley\n', `> ${opening.replaceAll('\n', ' ')}\n`, ...groups].join('\n'));
});

describe('a link of the docs', () => {
  const anchors = new Map<string, readonly string[]>();
  const anchorsOf = (page: string) => {
    const known = anchors.get(page) ?? anchorsIn(read(page));
    anchors.set(page, known);
    return known;
  };

  function faultOf(page: string, target: string): string | undefined {
    const { path, anchor } = resolveLink(page, target);
    if (path.startsWith('..') || !existsSync(`${root}${path}`)) return `${page}: ${target}: no such file`;
    if (anchor === '' || anchorsOf(path).includes(anchor.slice(1))) return undefined;
    return `${page}: ${target}: no such heading`;
  }

  it('leads to a file, a folder or a heading that exists', () => {
    const links = listed.flatMap((page) => linksIn(read(page)).map(({ target }) => ({ page, target })));
    const own = links.filter(({ target }) => target.startsWith('#') || !isElsewhere(target));
    expect(own.length).toBeGreaterThan(500);
    expect(own.flatMap(({ page, target }) => faultOf(page, target) ?? [])).toEqual([]);
  });

  it('is replaced in prose, in images and in HTML, and nowhere in code', () => {
    const page = [
      ...['[a `b`](c.md#d) ![e](f.png)', '[![g](h.png)](i.md)', '<img src="j.png">', '', '```'],
      ...['[k](l.md)', '```', ''],
    ].join('\n');
    expect(mapLinks(page, (target, isImage) => `${isImage ? 'image' : 'page'}:${target}`)).toBe(
      [
        ...['[a `b`](page:c.md#d) ![e](image:f.png)', '[![g](image:h.png)](page:i.md)'],
        ...['<img src="image:j.png">', '', '```', '[k](l.md)', '```', ''],
      ].join('\n'),
    );
  });
});

it('a sequence diagram is a table on the site, one row a message or note', () => {
  const diagram = [
    ...['```mermaid', 'sequenceDiagram', '  participant C as Chat', '  participant P as Parley (any pod)'],
    ...['  C->>P: message', '  P-->>C: reply', '  Note over P: done', '```'],
  ].join('\n');
  expect(withSequencesAsTables(diagram).split('\n')).toEqual([
    ...['| from | to | what |', '|---|---|---|', '| Chat | Parley (any pod) | message |'],
    ...['| Parley (any pod) | Chat | reply |', '| Parley (any pod) | – | done |'],
  ]);
  expect(listed.filter((page) => withSequencesAsTables(read(page)).includes('```mermaid'))).toEqual([]);
});

it('docs/errors.md has each error of the product with its status, what it means and what to do', () => {
  const page = read('docs/errors.md');
  const row = /^\| (\d+) \| \[`(\w+)`\]\(#\2\) \|$/gm;
  const section = /^## `(\w+)`\n\n\*\*(\d+)\*\* \S.+\n\n\S.+$/gm;
  const expected = ERROR_CODES.map((code) => `${code} ${STATUS_OF[code]}`);
  expect([...page.matchAll(row)].map(([, status, code]) => `${code} ${status}`)).toEqual(expected);
  expect([...page.matchAll(section)].map(([, code, status]) => `${code} ${status}`)).toEqual(expected);
});

it('docs/images/states.svg names what moves an open question, as the table of transitions does', () => {
  // Columns of the table that are a command of their own, as a reader knows it.
  const labels = new Map(
    ['accept', 'complete', 'decline', 'cancel', 'withdraw'].map((name) => [name, name]),
  ).set('expire', 'the deadline');
  const open = new Set(['pending', 'opened', 'overdue', 'opened overdue']);
  const movesTo = (status: string) =>
    CELLS.flatMap(({ from, command, outcome }) =>
      open.has(from) && typeof outcome === 'object' && 'moves' in outcome && outcome.moves === status
        ? (labels.get(command) ?? [])
        : [],
    );
  const arrow = /<text class="small".*>(.+)<\/text>\n<rect class="box".*\/><text.*>(\w+)<\/text>/g;
  const drawn = [...read('docs/images/states.svg').matchAll(arrow)].map(([, label, status]) => [
    status,
    label,
  ]);
  const [, ...entered] = STATUSES;
  expect(drawn).toEqual([
    ['pending', 'open'],
    ...entered.map((status) => [status, [...new Set(movesTo(status))].join(' or ')]),
  ]);
});

describe('what npm run docs writes for the site', () => {
  it('is the faults of parley doctor in docs/cli.md, from the list of the command', () => {
    expect(read('docs/cli.md')).toBe(cliPage(read('docs/cli.md')));
  });

  it('is the list of pages in README.md, from llms.txt', () => {
    expect(read('README.md')).toBe(readmeWithPages(read('README.md'), mainGroupsOf(root)));
  });
});
