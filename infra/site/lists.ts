import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isElsewhere, mapLinks, resolveLink } from './links.ts';
import { mainGroupsOf, type SiteGroup } from './navigation.ts';

const BEGIN = '<!-- pages: npm run docs -->';
const END = '<!-- end of pages -->';

/** The repository that the packages name. The site links files there that are not pages. */
export const REPOSITORY = 'https://github.com/parley-dev/parley';

/** README.md with the present list of pages, by group. */
export function readmeWithPages(readme: string, groups: readonly SiteGroup[]): string {
  const [before, rest = ''] = readme.split(BEGIN);
  const after = rest.split(END)[1] ?? '';
  const tables = groups.map(({ title, pages }) => [
    `**${title}**`,
    '',
    '| page | content |',
    '|---|---|',
    ...pages
      .filter(({ path }) => path !== 'README.md')
      .map(({ path, about }) => `| [${path.replace(/\/README\.md$/, '')}](${path}) | ${about} |`),
    '',
  ]);
  return `${before}${BEGIN}\n\n${tables.flat().join('\n')}\n${END}${after}`;
}

/** llms-full.txt: the pages of llms.txt in one file, without those for contributors, with links that work everywhere. */
export function llmsFullText(root: string): string {
  return mainGroupsOf(root)
    .filter(({ title }) => title !== 'Contribute')
    .flatMap(({ pages }) => pages)
    .map(({ path: page }) =>
      mapLinks(readFileSync(join(root, page), 'utf8'), (target) => {
        if (isElsewhere(target)) return target;
        const { path, anchor } = resolveLink(page, target);
        return `${REPOSITORY}/blob/main/${path}${anchor}`;
      }),
    )
    .join('\n\n');
}
