import type { Turns } from '../../turns/turns.ts';
import { CARD_TOOLS, isCardTool } from './apps/tools.ts';
import { metaWithCard } from './card.ts';
import { pageOf } from './page.ts';

type ListedTool = Awaited<ReturnType<Turns['listOffered']>>[number];

/**
 * A page of the tools that a caller may use, as `tools/list` returns it. `hasCard`: with the card of calls and its own tools.
 * Throws for an unknown cursor.
 */
export function toolsPage(
  tools: readonly ListedTool[],
  cursor: string | undefined,
  { hasCard }: { readonly hasCard: boolean },
) {
  const listed = tools.map(toolOf);
  const { items, ...rest } = pageOf(hasCard ? withCard(listed) : listed, cursor);
  return { tools: items, ...rest };
}

function withCard(tools: readonly ReturnType<typeof toolOf>[]) {
  const carded = tools
    .filter(({ name }) => !isCardTool(name))
    .map((tool) => {
      const _meta = metaWithCard(tool._meta);
      return { ...tool, ...(_meta !== undefined && { _meta }) };
    });
  return [...carded, ...CARD_TOOLS];
}

function toolOf({ target, ...tool }: ListedTool) {
  return {
    ...tool,
    ...(target.type === 'agent' && { annotations: AGENT_ANNOTATIONS }),
    inputSchema: objectSchema(tool.inputSchema),
    ...(tool.outputSchema !== undefined && { outputSchema: objectSchema(tool.outputSchema) }),
  };
}

// The most cautious hints: an agent may call any of its tools, and each call may have another result.
const AGENT_ANNOTATIONS = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
};

/** Adds the type `object` to a schema, because clients require it. */
function objectSchema(schema: ListedTool['inputSchema']) {
  return { ...schema, type: 'object' as const };
}
