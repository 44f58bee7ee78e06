import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface SitePage {
  /** The path of the source in the repository. */
  readonly path: string;
  /** The title in lists. */
  readonly title: string;
  /** What a reader finds on the page, as part of a sentence. */
  readonly about: string;
}

export interface SiteGroup {
  readonly title: string;
  readonly pages: readonly SitePage[];
}

/** Folders whose pages are all listed. Each page's title is its heading. */
export const LISTED_FOLDERS = [
  { title: 'Reports', folder: 'docs/reports' },
  { title: 'Decisions', folder: 'docs/decisions' },
] as const;

const GROUP = /^## (.+)\n\n((?:- .+\n)+)/gm;
const PAGE = /^- \[(.+?)\]\((.+?)\): (.+)$/gm;

/** The groups of llms.txt: every page outside the listed folders, in the order of the site. */
export function mainGroupsOf(root: string): SiteGroup[] {
  const text = readFileSync(join(root, 'llms.txt'), 'utf8');
  return [...text.matchAll(GROUP)].map(([, title = '', list = '']) => ({
    title,
    pages: [...list.matchAll(PAGE)].map(([, name = '', path = '', about = '']) => ({
      path,
      title: name,
      about,
    })),
  }));
}

/** Every group of the site, with the pages of the listed folders under their own headings. */
export function groupsOf(root: string): SiteGroup[] {
  const listed = LISTED_FOLDERS.map(({ title, folder }) => ({
    title,
    pages: readdirSync(join(root, folder))
      .filter((name) => name.endsWith('.md'))
      .sort()
      .map((name) => pageWithHeading(root, `${folder}/${name}`)),
  }));
  return [...mainGroupsOf(root), ...listed];
}

function pageWithHeading(root: string, path: string): SitePage {
  const heading = /^# (.+)$/m.exec(readFileSync(join(root, path), 'utf8'))?.[1] ?? path;
  return { path, title: heading.replaceAll('`', ''), about: '' };
}

/** The path of a source's page on the site, without extension. README.md is the front page. */
export function sitePathOf(source: string): string {
  if (source === 'README.md') return 'index';
  const name = source.replace(/(?:\/README)?\.md$/, '').toLowerCase();
  return name.includes('/') ? name.replace(/^docs\//, '') : `project/${name}`;
}
