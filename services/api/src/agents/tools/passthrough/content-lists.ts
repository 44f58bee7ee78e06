import type { Owner } from '@parley/core/domain/ids';
import { isRecord } from '@parley/core/domain/plain-record';
import { visible } from '@parley/core/domain/visible';
import type { ReadMethod } from '../../mcp/calls/read-request.ts';
import type { McpReadResult } from '../../mcp/results.ts';
import { raceAbort } from '../../mcp/transports/exchange.ts';
import type { Viewer } from '../../mcp/visibility.ts';

type ListedItem = Readonly<Record<string, unknown>>;

const PAGES_MAX = 20;
// The maximum number of items from one server, as for its tools.
const ITEMS_MAX = 1_000;

/** MCP's list methods, and the member of their pages that contains the items. */
const MEMBERS = {
  'prompts/list': 'prompts',
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates',
} as const satisfies Partial<Record<ReadMethod, string>>;
export type ListMethod = keyof typeof MEMBERS;
/** The member of an item with which clients request it. */
export const KEYS = {
  'prompts/list': 'name',
  'resources/list': 'uri',
  'resources/templates/list': 'uriTemplate',
} as const satisfies Record<ListMethod, string>;

/** A page of a list of one server, for one person. */
interface ListPage extends Pick<ListReader, 'principal' | 'viewer'> {
  readonly server: string;
  readonly method: ListMethod;
  readonly params: ListedItem;
}

interface ListReader {
  readonly principal: Owner;
  readonly viewer?: Viewer | undefined;
  readonly signal: AbortSignal;
}

/** Lists of servers that are read page by page. */
interface ContentLists {
  /** The items of a list. Undefined if the server could not be read. Rejects with the reason of the reader's signal. */
  itemsOf(
    source: { readonly server: string },
    reader: ListReader,
    method: ListMethod,
  ): Promise<readonly ListedItem[] | undefined>;
}

/** Makes the lists. `read` reads a page. It does not get a reader's signal, because others may wait for the same list. */
export function createContentLists(
  read: (page: ListPage) => Promise<McpReadResult | undefined>,
): ContentLists {
  // Lists being read. A client may request a hundred resources at once, and each is searched in the same lists.
  const underWay = new Map<string, Promise<readonly ListedItem[] | undefined>>();

  async function allPages(page: Omit<ListPage, 'params'>): Promise<readonly ListedItem[] | undefined> {
    const { method } = page;
    const items: ListedItem[] = [];
    let cursor: unknown;
    for (let pages = 0; pages < PAGES_MAX && items.length < ITEMS_MAX; pages += 1) {
      const reply = await read({ ...page, params: cursor === undefined ? {} : { cursor } });
      if (reply === undefined || reply.type === 'absent') return items;
      if (reply.type !== 'read') return undefined;
      const found = reply.result[MEMBERS[method]];
      const key = KEYS[method];
      // The name is shown and is returned to the server unchanged, so a name with invisible characters is dropped.
      const isShown = ({ [key]: name }: ListedItem) => typeof name === 'string' && visible(name) === name;
      items.push(...(Array.isArray(found) ? found.filter(isRecord).filter(isShown) : []));
      const { nextCursor } = reply.result;
      if (typeof nextCursor !== 'string' || nextCursor === cursor) break;
      cursor = nextCursor;
    }
    return items.slice(0, ITEMS_MAX);
  }

  return {
    async itemsOf({ server }, { principal, viewer, signal }, method) {
      signal.throwIfAborted();
      const key = JSON.stringify([server, principal.tenant, principal.userId, viewer, method]);
      let list = underWay.get(key);
      if (list === undefined) {
        list = allPages({ server, principal, viewer, method }).finally(() => underWay.delete(key));
        underWay.set(key, list);
      }
      return raceAbort({ signal }, list);
    },
  };
}
