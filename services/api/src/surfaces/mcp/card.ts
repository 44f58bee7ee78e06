import { isRecord, own } from '@parley/core/domain/plain-record';
import { PAGE_TYPE } from '@parley/shared/domain/runs/pages';

/** The address of the card of a call. Addresses of servers have the id of their server in them, so none is this one. */
export const CARD_URI = 'ui://parley/call';

/** Tells the card in the `_meta` of a result which tool was called, and that the call goes on. */
export const CALL_META_KEY = 'parley/call';

// Nothing outside may be connected to: each list of origins is empty.
const CLOSED = { connectDomains: [], resourceDomains: [], frameDomains: [], baseUriDomains: [] };

/** The card, as `resources/read` returns it. It holds nothing of any user, so hosts may keep it. */
export function cardContents(html: string) {
  return {
    contents: [
      {
        uri: CARD_URI,
        mimeType: PAGE_TYPE,
        text: html,
        _meta: { ui: { csp: CLOSED, prefersBorder: false } },
      },
    ],
  };
}

/** The `_meta` of a tool with the card. A tool that has a page of its own, or that only pages may call, keeps what it has. */
export function metaWithCard(
  meta: Readonly<Record<string, unknown>> | undefined,
): Readonly<Record<string, unknown>> | undefined {
  const ui = meta && own(meta, 'ui');
  const known = isRecord(ui) ? ui : {};
  const names = own(known, 'visibility');
  const hasOwn = own(known, 'resourceUri') !== undefined || own(meta ?? {}, 'ui/resourceUri') !== undefined;
  if (hasOwn || (Array.isArray(names) && !names.includes('model'))) return meta;
  return { ...meta, ui: { ...known, resourceUri: CARD_URI } };
}
