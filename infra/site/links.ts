import { posix } from 'node:path';

/** A link on a page: the target as written, without title and brackets. */
export interface PageLink {
  readonly target: string;
  readonly isImage: boolean;
}

const FENCE = /^( *)(`{3,}|~{3,})[^\n]*\n[\s\S]*?^\1\2 *$/gm;
const MARKDOWN_LINK = /(!?)\[((?:[^\][]|\[[^\]]*\])*)\]\(([^()\s]+)\)/g;
const HTML_LINK = /^( *<[^\n]*?\b(src|srcset|href)=)"([^"\n]+)"/gm;

/** The links and images of a Markdown page, in order. Links in code do not count. */
export function linksIn(text: string): PageLink[] {
  const links: PageLink[] = [];
  mapLinks(text, (target, isImage) => {
    links.push({ target, isImage });
    return target;
  });
  return links;
}

/** The page with each target of a link or image replaced. Code is not changed. */
export function mapLinks(text: string, map: (target: string, isImage: boolean) => string): string {
  return outsideFences(text, (prose) =>
    prose
      .replaceAll(MARKDOWN_LINK, (_, mark: string, label: string, target: string) => {
        // A link's label may contain an image.
        const inner = label.includes('](') ? mapLinks(label, map) : label;
        return `${mark}[${inner}](${map(target, mark === '!')})`;
      })
      .replaceAll(HTML_LINK, (_, tag: string, name: string, target: string) => {
        return `${tag}"${map(target, name !== 'href')}"`;
      }),
  );
}

function outsideFences(text: string, map: (prose: string) => string): string {
  const parts: string[] = [];
  let end = 0;
  for (const match of text.matchAll(FENCE)) {
    parts.push(map(text.slice(end, match.index)), match[0]);
    end = match.index + match[0].length;
  }
  return [...parts, map(text.slice(end))].join('');
}

/** True for a target outside the repository or on the same page. */
export function isElsewhere(target: string): boolean {
  return /^(?:[a-z]+:|#|\/\/)/.test(target);
}

/** The file or folder in the repository to which a page's link leads, and the anchor with its `#`. */
export function resolveLink(
  page: string,
  target: string,
): { readonly path: string; readonly anchor: string } {
  const [file = '', anchor] = target.split('#');
  const path = file === '' ? page : posix.normalize(posix.join(posix.dirname(page), file)).replace(/\/$/, '');
  return { path, anchor: anchor === undefined ? '' : `#${anchor}` };
}

/** The anchor of a heading, made as GitHub does. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_\s-]/gu, '')
    .replaceAll(/\s/g, '-');
}

/** The anchors of a page's headings. */
export function anchorsIn(text: string): string[] {
  const prose = text.replaceAll(FENCE, '');
  const seen = new Map<string, number>();
  return [...prose.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => {
    const anchor = anchorOf(heading);
    const times = seen.get(anchor) ?? 0;
    seen.set(anchor, times + 1);
    return times === 0 ? anchor : `${anchor}-${times}`;
  });
}
