import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { mapLinks } from './links.ts';
import { LISTED_FOLDERS, NAVIGATION, type SiteGroup, type SitePage } from './navigation.ts';

const BEGIN = '<!-- pages: npm run docs -->';
const END = '<!-- end of pages -->';

/** The repository that the packages name; the site links files there that are no pages. */
export const REPOSITORY = 'https://github.com/parley-dev/parley';

/** Every group of the site, with the pages of the listed folders under their own headings. */
export function groupsOf(root: string): SiteGroup[] {
  const listed = LISTED_FOLDERS.map(({ title, folder }) => ({
    title,
    isForContributors: true as const,
    pages: readdirSync(join(root, folder))
      .filter((name) => name.endsWith('.md'))
      .sort()
      .map((name) => pageWithHeading(root, `${folder}/${name}`)),
  }));
  return [...NAVIGATION, ...listed];
}

function pageWithHeading(root: string, path: string): SitePage {
  const heading = /^# (.+)$/m.exec(readFileSync(join(root, path), 'utf8'))?.[1] ?? path;
  return { path, title: heading.replaceAll('`', ''), about: '' };
}

/** README.md with the list of pages, group by group, in place of the one that it has. */
export function readmeWithPages(readme: string): string {
  const [before, rest = ''] = readme.split(BEGIN);
  const after = rest.split(END)[1] ?? '';
  const groups = NAVIGATION.map(({ title, pages }) => [
    `**${title}**`,
    '',
    '| page | content |',
    '|---|---|',
    ...pages
      .filter(({ path }) => path !== 'README.md')
      .map(({ path, about }) => `| [${path.replace(/\/README\.md$/, '')}](${path}) | ${about} |`),
    '',
  ]);
  return `${before}${BEGIN}\n\n${groups.flat().join('\n')}\n${END}${after}`;
}

/** llms.txt: what Parley is and where each page lies, for programs that read. Its links lead to Markdown. */
export function llmsText(readme: string): string {
  const [, opening = ''] = /^# Parley\n\n([\s\S]*?)\n\n/.exec(readme) ?? [];
  const groups = NAVIGATION.map(({ title, pages }) => [
    `## ${title}`,
    '',
    ...pages.map(({ path, title: name, about }) => `- [${name}](${path}): ${about}`),
    '',
  ]);
  return ['# Parley', '', `> ${opening.replaceAll('\n', ' ')}`, '', ...groups.flat()].join('\n');
}

/** llms-full.txt: every page of the same list in one file, with links that work from anywhere. */
export function llmsFullText(root: string): string {
  return NAVIGATION.filter(({ isForContributors }) => isForContributors !== true)
    .flatMap(({ pages }) => pages)
    .map(({ path }) =>
      mapLinks(readFileSync(join(root, path), 'utf8'), (target) =>
        /^(?:[a-z]+:|#)/.test(target)
          ? target
          : `${REPOSITORY}/blob/main/${posix.normalize(posix.join(posix.dirname(path), target))}`,
      ),
    )
    .join('\n\n');
}
