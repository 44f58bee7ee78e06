import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { isElsewhere, mapLinks, resolveLink } from './links.ts';
import { llmsFullText, REPOSITORY } from './lists.ts';
import { groupsOf, LISTED_FOLDERS, type SiteGroup, sitePathOf } from './navigation.ts';
import { siteOpenApi } from './open-api.ts';
import { withSequencesAsTables } from './sequences.ts';

/**
 * Writes VitePress' input into `folder`: every page at its path on the site, with links that fit there. The Markdown is also
 * served, for programs that read it.
 */
export function stagePages(root: string, folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  const groups = groupsOf(root);
  const sources = groups.flatMap(({ pages }) => pages.map(({ path }) => path));
  const isPage = new Set(sources);
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  for (const source of sources) {
    const text = mapLinks(readFileSync(join(root, source), 'utf8'), (target, isImage) =>
      targetOnSite(root, isPage, source, { target, isImage }),
    );
    write(`${sitePathOf(source)}.md`, withSequencesAsTables(text));
    write(`public/${sitePathOf(source)}.md`, text);
  }
  write('api.md', API_PAGE);
  for (const { title, folder } of LISTED_FOLDERS)
    for (const group of groups.filter((one) => one.title === title))
      write(`${sitePathOf(`${folder}.md`)}.md`, folderPage(group));
  const onSite = (text: string) =>
    mapLinks(text, (target) => (isElsewhere(target) ? target : `${sitePathOf(target)}.md`));
  write('public/llms.txt', onSite(readFileSync(join(root, 'llms.txt'), 'utf8')));
  write('public/llms-full.txt', llmsFullText(root));
  write('public/openapi.json', JSON.stringify(siteOpenApi()));
  cpSync(join(root, 'docs/images'), join(folder, 'images'), { recursive: true });
}

/** The target of a source's link on the site. Links to files that are not pages lead to the repository. */
function targetOnSite(
  root: string,
  isPage: ReadonlySet<string>,
  source: string,
  { target, isImage }: { readonly target: string; readonly isImage: boolean },
): string {
  if (isElsewhere(target)) return target;
  const { path, anchor } = resolveLink(source, target);
  const own = posix.dirname(sitePathOf(source));
  const relative = (to: string) => {
    const steps = posix.relative(own, to);
    return steps.startsWith('.') ? steps : `./${steps}`;
  };
  if (isImage) return relative(path.replace(/^docs\//, ''));
  const page = [path, `${path}/README.md`].find((one) => isPage.has(one));
  if (page !== undefined) return `${relative(sitePathOf(page))}.md${anchor}`;
  if (LISTED_FOLDERS.some(({ folder }) => folder === path)) return `${relative(sitePathOf(`${path}.md`))}.md`;
  const kind = existsSync(join(root, path)) && statSync(join(root, path)).isDirectory() ? 'tree' : 'blob';
  return `${REPOSITORY}/${kind}/main/${path}${anchor}`;
}

// Swagger UI contains the page's `main` element, so the text before it is in sections.
const API_PAGE = `---
layout: page
title: Try the HTTP API
---

<div class="try-it">
<section class="vp-doc" aria-label="Try the HTTP API">

# Try the HTTP API

Every call of the [HTTP API](./http-api.md), as a pod describes it at \`/openapi.json\`. Calls go from this page to your own pod, which
takes them when \`PARLEY_CORS_ORIGINS\` there has the origin of this page. The token stays in this page and is forgotten with it.

</section>
<TryIt />
</div>
`;

/** The page of a listed folder, with the list of its pages. */
function folderPage({ title, pages }: SiteGroup): string {
  const items = pages.map((page) => `- [${page.title}](./${sitePathOf(page.path)}.md)`);
  return [`# ${title}`, '', ...items, ''].join('\n');
}
