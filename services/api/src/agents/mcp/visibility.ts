import { isRecord, own } from '@parley/core/domain/plain-record';
import { visibleTexts } from '@parley/core/domain/visible';

/** Who may use a tool, as its server declares (MCP Apps, `io.modelcontextprotocol/ui`). */
export interface Visibility {
  /** True if models may see and call it. */
  readonly model: boolean;
  /** True if the server's own pages may call it when the person presses a button. */
  readonly app: boolean;
}

/** Who sees a tool: a model, or an MCP client that shows servers' pages and keeps their tools from its model. */
export type Viewer = 'model' | 'host';

/** The viewer for a client, according to its declared capabilities. */
export function viewerOf({ apps }: { readonly apps?: boolean | undefined }): Viewer {
  return apps === true ? 'host' : 'model';
}

/** The visibility of a tool without a declaration. */
export const FOR_ALL: Visibility = { model: true, app: true };

/** The places of the declaration: MCP Apps, its draft with flat keys, and the Apps SDK, which uses a single word. */
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
 * Reads the `_meta` of a tool. If several places have a declaration, all must agree. A declaration that is not a list allows
 * nobody: a missing button does less harm than a button that a model presses. Some servers write `null` for no declaration.
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

// The maximum size as JSON. Clients read it for each tool.
const META_BYTES_MAX = 16_000;

/** The `_meta` of a tool for clients, with its visibility in one place. If it is too large, only the visibility remains. */
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
