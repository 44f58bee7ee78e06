import { isRecord, own } from '@parley/core/domain/plain-record';
import { PAGE_TYPE } from '@parley/shared/domain/runs/pages';

/** The address of the card of a call. Addresses of servers' pages contain their server's id, so none is equal to this one. */
export const CARD_URI = 'ui://parley/call';

/** The key in a result's `_meta` that tells the card which tool was called and that the call continues. */
export const CALL_META_KEY = 'parley/call';

// The card must not connect anywhere, so each list of origins is empty.
const CLOSED = { connectDomains: [], resourceDomains: [], frameDomains: [], baseUriDomains: [] };

/** The card in the form in which `resources/read` returns it. It contains no user data, so hosts may cache it. */
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

/** Adds the card to a tool's `_meta`. A tool that has a page of its own, or that only pages may call, is not changed. */
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
