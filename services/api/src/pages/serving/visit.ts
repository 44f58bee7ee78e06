import type { RequestHead } from '../../http/route.ts';
import type { FormTarget } from '../kit/fields.ts';
import type { PageView } from '../views/view.ts';
import { type Browser, csrfOf } from './browser.ts';

/** One request to a hosted page. */
export interface Visit {
  readonly head: RequestHead;
  readonly browser: Browser;
  /** The variable part of the path, which has the valid form. */
  readonly param: string;
  readonly query: URLSearchParams;
  readonly address: string;
  readonly requestId: string;
  /** The posted fields; undefined if no form was posted, or one larger than any of Parley's. */
  readonly form: URLSearchParams | undefined;
}

/** A handler's result for a person. */
export type PageReply =
  | {
      readonly type: 'page';
      readonly view: PageView;
      /** The browser's new id, if signing in or out changed it. */
      readonly browserId?: string;
    }
  /** A redirect to another hosted page, by its path. */
  | { readonly type: 'moved'; readonly path: string; readonly browserId?: string };

/** A handler's result for a program. */
export type ProgramAnswer =
  | { readonly type: 'json'; readonly status: number; readonly body: unknown }
  | { readonly type: 'empty'; readonly status: number };

export function page(view: PageView, browserId?: string): PageReply {
  return { type: 'page', view, ...(browserId !== undefined && { browserId }) };
}

/** The action of a form, and the CSRF token of the browser to which it is shown. */
export function buildFormTarget(browser: Pick<Browser, 'id'>, action: string): FormTarget {
  return { action, csrf: csrfOf(browser) };
}

/** A parameter that occurs exactly once. */
export function single(values: URLSearchParams, name: string): string | undefined {
  const all = values.getAll(name);
  return all.length === 1 ? all[0] : undefined;
}
