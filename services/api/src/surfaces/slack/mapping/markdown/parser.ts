import MarkdownIt, { type Token } from 'markdown-it';

/** The parser omits lists and quotes that are nested deeper than this. */
export const NESTING_MAX = 100;

const parser = new MarkdownIt({ linkify: true, maxNesting: NESTING_MAX });
// Only addresses with a scheme become links, and they are shown as written.
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
parser.normalizeLinkText = (url) => url;
reportDefinitions(parser);

/** Parses a document. A `definition` is the address of a reference (`[name]: address`) that no link uses. */
export function tokensOf(markdown: string): readonly Token[] {
  const tokens = parser.parse(markdown, {});
  if (!tokens.some(isDefinition)) return tokens;
  const used = new Set<string>();
  for (const { children } of tokens)
    for (const { attrs } of children ?? []) for (const [, value] of attrs ?? []) used.add(String(value));
  return tokens.filter((token) => !isDefinition(token) || !used.has(token.info));
}

function isDefinition({ type }: Token): boolean {
  return type === 'definition';
}

/**
 * Makes a parser emit tokens for the addresses of references, which it would omit: some are only lines like `[ERROR]: timeout`.
 */
function reportDefinitions({ block: { ruler }, utils }: InstanceType<typeof MarkdownIt>): void {
  const rules = ruler.getRules('');
  ruler.disable('reference');
  const others = new Set(ruler.getRules(''));
  const [takes] = rules.filter((rule) => !others.has(rule));
  ruler.at('reference', (state, from, to, isSilent) => {
    if (takes?.(state, from, to, isSilent) !== true) return false;
    if (isSilent) return true;
    const token = state.push('definition', '', 0);
    token.content = state.getLines(from, state.line, state.blkIndent, false).trim();
    const [, label = ''] = /^\[((?:\\[\s\S]|[^\]\\])*)\]:/u.exec(token.content) ?? [];
    token.info = state.env.references?.[utils.normalizeReference(label)]?.href ?? '';
    return true;
  });
  ruler.enable('reference');
}
