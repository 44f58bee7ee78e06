import type { Caller } from '@parley/shared/elicitations/caller';
import type { z } from 'zod';
import type { SseSource } from './sse.ts';

/** What a handler gets: everything already verified and checked. */
export interface Call<Query = unknown, Body = unknown> {
  readonly caller: Caller;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  readonly header: (name: string) => string | undefined;
  /** Aborted when the caller left or the pod drains; made when first asked for. */
  readonly signal: AbortSignal;
  /** True once the pod drains. */
  readonly draining: boolean;
  /** Leave to go on, asked for meanwhile; handlers that write await it before they do. */
  readonly admitted: Promise<void>;
}

export type Reply =
  | {
      readonly type: 'json';
      readonly status: number;
      readonly body: unknown;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | { readonly type: 'empty'; readonly status: 204 }
  | {
      readonly type: 'events';
      readonly events: SseSource;
      readonly headers?: Readonly<Record<string, string>>;
    };

/** One route of the API: enough to serve it, and to describe it in OpenAPI. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Express path, e.g. `/v1/elicitations/:id`. */
  readonly path: string;
  /** Who may call; others get `forbidden` before anything is looked up. */
  readonly who: readonly Caller['kind'][];
  readonly summary: string;
  readonly description?: string;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  /** True when an empty body counts as `{}`. */
  readonly bodyOptional?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  /** Successful replies by status. */
  readonly replies: Readonly<
    Record<number, { readonly description: string; readonly schema?: z.ZodType; readonly events?: true }>
  >;
  /** Error codes beyond those every route has. */
  readonly errors?: readonly string[];
  readonly handle: (call: Call) => Promise<Reply>;
}

/** Types a handler by the schemas of its route. */
export function route<Query extends z.ZodType = z.ZodUndefined, Body extends z.ZodType = z.ZodUndefined>(
  definition: Omit<Route, 'handle' | 'query' | 'body'> & {
    readonly query?: Query;
    readonly body?: Body;
    readonly handle: (call: Call<z.output<Query>, z.output<Body>>) => Promise<Reply>;
  },
): Route {
  return definition as unknown as Route;
}

export function json(status: number, body: unknown, headers?: Readonly<Record<string, string>>): Reply {
  return { type: 'json', status, body, ...(headers !== undefined && { headers }) };
}
