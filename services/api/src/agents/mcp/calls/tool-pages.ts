import type { Client } from '@modelcontextprotocol/client';
import { failureOf } from '../failure.ts';
import type { McpLimits } from '../limits.ts';
import type { SendRequest } from '../request.ts';
import type { McpOffer, McpToolList } from '../results.ts';
import type { ServerTarget } from '../target.ts';
import { createToolOffer, ToolPage } from './tool-offer.ts';

const PAGES_MAX = 100;

/**
 * Requests a server's tools, page by page, up to a hundred pages. The SDK's own listing is not used, because one invalid tool
 * makes all of it fail, and because it writes to the console.
 */
export async function fetchTools(
  sendRequest: SendRequest,
  target: ServerTarget,
  limits: McpLimits,
): Promise<McpToolList> {
  const reply = await sendRequest(
    target,
    { timeoutMs: limits.callTimeoutMs, isRepeatable: () => true },
    ({ client, mirrorsParams }, { signal }) =>
      allPages(client, { ...limits, serverId: target.config.id, mirrorsParams, signal }),
  );
  return 'error' in reply ? failureOf(reply.error, reply.dispatched) : reply.value;
}

type Rules = McpLimits & { serverId: string; mirrorsParams: boolean; signal: AbortSignal };

async function allPages(client: Client, rules: Rules): Promise<McpOffer> {
  const offer = createToolOffer(rules);
  if (client.getServerCapabilities()?.tools === undefined) return offer.done();
  let cursor: string | undefined;
  for (let pages = 0; pages < PAGES_MAX; pages++) {
    const page = await client.request(
      { method: 'tools/list', params: cursor === undefined ? {} : { cursor } },
      ToolPage,
      { timeout: rules.callTimeoutMs + 1_000, signal: rules.signal },
    );
    for (const tool of page.tools) offer.add(tool);
    if (page.nextCursor === undefined || page.nextCursor === cursor) break;
    cursor = page.nextCursor;
  }
  return offer.done();
}
