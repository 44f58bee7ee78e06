import type { Client } from '@modelcontextprotocol/client';
import type { McpLimits } from '../limits.ts';
import type { ServerPlace } from '../opener.ts';
import type { Reach } from '../reach.ts';
import { failureOf } from './failure.ts';
import type { McpOffer, McpToolList } from './results.ts';
import { createScrub, type Scrub } from './scrub.ts';
import { createToolOffer, ToolPage } from './tool-offer.ts';

const PAGES_MAX = 100;

/**
 * Asks a server for its tools, page by page, as far as the hundredth. Not by the
 * SDK's own listing, which fails as a whole over one faulty tool and writes to the console.
 */
export async function fetchTools(reach: Reach, place: ServerPlace, limits: McpLimits): Promise<McpToolList> {
  const scrub = createScrub(place.config, place.credential);
  const reached = await reach(
    place,
    { timeoutMs: limits.callTimeoutMs },
    ({ client, mirrorsParams }, signal) =>
      allPages(client, { ...limits, serverId: place.config.id, mirrorsParams, scrub, signal }),
  );
  return 'error' in reached ? failureOf(reached.error, reached.left, scrub) : reached.value;
}

type Rules = McpLimits & { serverId: string; mirrorsParams: boolean; scrub: Scrub; signal: AbortSignal };

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
