import { isRecord, own } from '@parley/core/domain/plain-record';
import { visibleTexts } from '@parley/core/domain/visible';

/** For whom a tool is, as its server says (MCP Apps, `io.modelcontextprotocol/ui`). */
export interface Visibility {
  /** Models may be given it, and call it. */
  readonly model: boolean;
  /** The server's own pages may call it, when their person presses a button there. */
  readonly app: boolean;
}

/** Who is given a tool: a model, or an MCP client that shows the pages of servers and keeps their tools from its model. */
export type Viewer = 'model' | 'host';

/** Who makes the calls of a client, by what it declared. */
export function viewerOf({ apps }: { readonly apps?: boolean | undefined }): Viewer {
  return apps === true ? 'host' : 'model';
}

/** A tool of which its server says nothing. */
export const FOR_ALL: Visibility = { model: true, app: true };

/** Where servers say it: MCP Apps, its draft with flat keys, and the Apps SDK, whose word for it is one text. */
const STATEMENTS = [
  (meta: Meta) => {
    const ui = own(meta, 'ui') ?? undefined;
    return isRecord(ui) ? own(ui, 'visibility') : ui && [];
  },
  (meta: Meta) => own(meta, 'ui/visibility'),
  (meta: Meta) => {
    const word = own(meta, 'openai/visibility') ?? 'public';
    return word === 'public' ? undefined : ['app'];
  },
];

type Meta = Readonly<Record<string, unknown>>;

/**
 * Reads the `_meta` of a tool. Where several places say something, all must agree. What is there and is no list names nobody:
 * a button that is missing does less harm than one that a model presses. `null` is what some servers write for nothing.
 */
export function visibilityOf(meta: unknown): Visibility {
  if (!isRecord(meta)) return FOR_ALL;
  const stated = STATEMENTS.map((read) => read(meta) ?? undefined).filter((said) => said !== undefined);
  const names = (who: keyof Visibility) => stated.every((said) => Array.isArray(said) && said.includes(who));
  return { model: names('model'), app: names('app') };
}

/** Decides whether a tool is given to a viewer, and whether its calls are made. */
export function isVisible(
  { visibility: { model, app } }: { readonly visibility: Visibility },
  viewer: Viewer,
): boolean {
  return model || (viewer === 'host' && app);
}

// As JSON. Clients read it of each tool.
const META_BYTES_MAX = 16_000;

/**
 * The `_meta` of a tool for clients, which read in one place for whom it is. A larger one is left out but for that.
 */
export function metaForClients(meta: unknown, { model, app }: Visibility): Meta | undefined {
  if (!isRecord(meta)) return undefined;
  const shown = visibleTexts(meta);
  const isLarge = Buffer.byteLength(JSON.stringify(shown)) > META_BYTES_MAX;
  if (model && app) return isLarge ? undefined : shown;
  const visibility = [...(model ? ['model'] : []), ...(app ? ['app'] : [])];
  const kept = isLarge ? {} : shown;
  const ui = own(kept, 'ui');
  return { ...kept, ui: { ...(isRecord(ui) && ui), visibility } };
}

const PAGE = /^ui:\/\/\S{1,2000}$/i;

/** The server's own address of the page that shows the results of a tool. */
export function pageOf(meta: unknown): string | undefined {
  const ui = isRecord(meta) ? own(meta, 'ui') : undefined;
  const uri =
    (isRecord(ui) ? own(ui, 'resourceUri') : undefined) ?? (isRecord(meta) && own(meta, 'ui/resourceUri'));
  return typeof uri === 'string' && PAGE.test(uri) ? uri : undefined;
}
