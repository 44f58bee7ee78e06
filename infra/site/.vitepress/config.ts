import { fileURLToPath } from 'node:url';
import { type DefaultTheme, defineConfig } from 'vitepress';
import { anchorOf } from '../links.ts';
import { REPOSITORY } from '../lists.ts';
import { groupsOf, LISTED_FOLDERS, mainGroupsOf, type SiteGroup, sitePathOf } from '../navigation.ts';
import { renderCornersAsCells } from './tables.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const linkTo = (source: string) => `/${sitePathOf(source).replace(/^index$/, '')}`;
const listed = groupsOf(root).filter(({ title }) => LISTED_FOLDERS.some((one) => one.title === title));

/** No group can be folded, because its heading would then contain a button within a button. */
function itemsOf(
  { title, pages }: SiteGroup,
  more: DefaultTheme.SidebarItem[] = [],
): DefaultTheme.SidebarItem {
  return {
    text: title,
    items: [...pages.map((page) => ({ text: page.title, link: linkTo(page.path) })), ...more],
  };
}

const pagesBeyond: Readonly<Record<string, DefaultTheme.SidebarItem[]>> = {
  Reference: [{ text: 'Try the HTTP API', link: '/api' }],
  Contribute: LISTED_FOLDERS.map(({ title, folder }) => ({ text: title, link: linkTo(`${folder}.md`) })),
};
const back = { text: 'All pages', link: '/' };

export default defineConfig({
  lang: 'en',
  title: 'Parley',
  description:
    'Ask a person from an AI agent on one pod, take the answer on any pod, settle it exactly once.',
  srcDir: 'pages',
  // Markdown files that are served unchanged.
  srcExclude: ['public/**'],
  outDir: '../../dist/site',
  cacheDir: 'node_modules/.vitepress-cache',
  cleanUrls: true,
  markdown: {
    anchor: { slugify: anchorOf },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config: renderCornersAsCells,
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: { level: [2, 3] },
    nav: [
      { text: 'Concepts', link: '/concepts' },
      { text: 'Recipes', link: '/recipes' },
      { text: 'HTTP API', link: '/http-api' },
      { text: 'Try it', link: '/api' },
      { text: 'Compare', link: '/compare' },
      { text: 'Repository', link: REPOSITORY },
    ],
    sidebar: {
      '/': mainGroupsOf(root).map((group) => itemsOf(group, pagesBeyond[group.title])),
      ...Object.fromEntries(
        listed.map((group, at) => [
          `/${sitePathOf(`${LISTED_FOLDERS[at]?.folder}.md`)}/`,
          [back, itemsOf(group)],
        ]),
      ),
    },
  },
});
