import type { RequestHead } from '../../http/route.ts';
import type { FormTarget } from '../kit/fields.ts';
import type { PageView } from '../views/view.ts';
import { type Browser, csrfOf } from './browser.ts';

/** One request to a hosted page. */
export interface Visit {
  readonly head: RequestHead;
  readonly browser: Browser;
  /** The part of the path that the route leaves open, checked for its form. */
  readonly param: string;
  readonly query: URLSearchParams;
  readonly address: string;
  readonly requestId: string;
  /** The fields that were posted; nothing when no form, or a larger one than any of ours, was. */
  readonly form: URLSearchParams | undefined;
}

/** What a handler answers to a person. */
export type PageReply =
  | {
      readonly type: 'page';
      readonly view: PageView;
      /** The browser's new id, where signing in or out gave it one. */
      readonly browserId?: string;
    }
  /** To another page of ours, by its path. */
  | { readonly type: 'moved'; readonly path: string; readonly browserId?: string };

/** What a handler answers to a program. */
export type ProgramAnswer =
  | { readonly type: 'json'; readonly status: number; readonly body: unknown }
  | { readonly type: 'empty'; readonly status: number };

export function page(view: PageView, browserId?: string): PageReply {
  return { type: 'page', view, ...(browserId !== undefined && { browserId }) };
}

/** The action of a form and the CSRF token of the browser that is shown it. */
export function buildFormTarget(browser: Pick<Browser, 'id'>, action: string): FormTarget {
  return { action, csrf: csrfOf(browser) };
}

/** A parameter that came once. */
export function single(values: URLSearchParams, name: string): string | undefined {
  const all = values.getAll(name);
  return all.length === 1 ? all[0] : undefined;
}
