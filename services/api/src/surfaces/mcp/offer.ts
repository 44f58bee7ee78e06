import { ProtocolError } from '@modelcontextprotocol/server';
import type { Turns } from '../../turns/turns.ts';
import { RPC } from './json-rpc.ts';

type ListedTool = Awaited<ReturnType<Turns['listOffered']>>[number];

const PAGE = 50;

/** A page of the tools that a caller may use, as `tools/list` returns it. Throws for a cursor that no page has. */
export function toolsPage(tools: readonly ListedTool[], cursor: string | undefined) {
  const from = startOf(cursor, tools.length);
  const hasMore = from + PAGE < tools.length;
  return {
    tools: tools.slice(from, from + PAGE).map(toolOf),
    ...(hasMore && { nextCursor: cursorOf(from + PAGE) }),
  };
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

function cursorOf(from: number): string {
  return Buffer.from(`from ${from}`).toString('base64url');
}

function startOf(cursor: string | undefined, count: number): number {
  if (cursor === undefined) return 0;
  const [, digits] = /^from (\d{1,6})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  const from = Number(digits);
  if (digits === undefined || from > count) throw new ProtocolError(RPC.invalidParams, 'Invalid cursor');
  return from;
}
