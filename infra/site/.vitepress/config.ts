import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';
import { anchorOf } from '../links.ts';
import { groupsOf, REPOSITORY } from '../lists.ts';
import { sitePathOf } from '../navigation.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const groups = groupsOf(root);
const linkTo = (source: string) => `/${sitePathOf(source).replace(/^index$/, '')}`;

export default defineConfig({
  lang: 'en',
  title: 'Parley',
  description:
    'Ask a person from an AI agent on one pod, take the answer on any pod, settle it exactly once.',
  srcDir: 'pages',
  // The Markdown that is served as it is.
  srcExclude: ['public/**'],
  cacheDir: 'node_modules/.vitepress-cache',
  cleanUrls: true,
  markdown: { anchor: { slugify: anchorOf } },
  themeConfig: {
    search: { provider: 'local' },
    outline: { level: [2, 3] },
    nav: [
      { text: 'Concepts', link: '/concepts' },
      { text: 'Recipes', link: '/recipes' },
      { text: 'HTTP API', link: '/http-api' },
      { text: 'Try it', link: '/api' },
      { text: 'Compare', link: '/compare' },
    ],
    sidebar: groups.map(({ title, pages, isForContributors }) => ({
      text: title,
      collapsed: isForContributors === true,
      items: [
        ...pages.map((page) => ({ text: page.title, link: linkTo(page.path) })),
        ...(title === 'Reference' ? [{ text: 'Try the HTTP API', link: '/api' }] : []),
      ],
    })),
    socialLinks: [{ icon: 'github', link: REPOSITORY }],
  },
});
