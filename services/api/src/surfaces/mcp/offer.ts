import type { Turns } from '../../turns/turns.ts';
import { pageOf } from './page.ts';

type ListedTool = Awaited<ReturnType<Turns['listOffered']>>[number];

/** A page of the tools that a caller may use, as `tools/list` returns it. Throws for a cursor that no page has. */
export function toolsPage(tools: readonly ListedTool[], cursor: string | undefined) {
  const { items, ...rest } = pageOf(tools, cursor);
  return { tools: items.map(toolOf), ...rest };
}

function toolOf({ target, ...tool }: ListedTool) {
  return {
    ...tool,
    ...(target.type === 'agent' && { annotations: AGENT_ANNOTATIONS }),
    inputSchema: objectSchema(tool.inputSchema),
    ...(tool.outputSchema !== undefined && { outputSchema: objectSchema(tool.outputSchema) }),
  };
}

// An agent may call any of its tools, and each call may end in another way.
const AGENT_ANNOTATIONS = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
};

/** A schema of an object says so: clients require it. */
function objectSchema(schema: ListedTool['inputSchema']) {
  return { ...schema, type: 'object' as const };
}
