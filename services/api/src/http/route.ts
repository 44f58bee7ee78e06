/** The types with which surfaces describe their routes. Serving a route is in `serve.ts`, finding it is in `router.ts`. */

import type { IncomingHttpHeaders } from 'node:http';
import type { Caller } from '@parley/shared/domain/caller';
import type { Scope } from '@parley/shared/domain/service-key';
import type { z } from 'zod';
import type { Authenticate } from './auth.ts';
import type { ReplyHeaders } from './send.ts';
import type { EventsReply } from './sse.ts';

/** The head of a request. */
export interface RequestHead {
  /** Path and query, as sent. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** Address of the peer, which is the client or the last proxy. */
  readonly remoteAddress: string;
  /** The id in the reply's `x-request-id`. */
  readonly requestId: string;
}

/** Checks a signature over the exact bytes of a body, and returns the signer. Throws `unauthenticated`. */
export type VerifySignature<Signer> = (body: Buffer, head: RequestHead) => Signer | Promise<Signer>;

/** A user, or a service key with this scope. */
export type BearerCaller = 'user' | Scope;

/** How a route authenticates its caller. `Who` is the type of the handler's `caller`. */
export type Proof<Who> =
  /** A user's token or a service key in `Authorization`. Callers that are not listed get `forbidden`. */
  | {
      readonly by: 'bearer';
      readonly callers: readonly BearerCaller[];
      /** Verifies tokens with a different audience; by default, the deployment's check. */
      readonly authenticate?: Authenticate;
    }
  /**
   * A service key with this scope, or the session of an operator in a tenant in which a role permits the method: every role may
   * read, and `operator` may also make changes.
   */
  | { readonly by: 'operator'; readonly scope: Scope }
  /** A cookie. Pages of other origins may never call such routes. */
  | { readonly by: 'session'; readonly read: (head: RequestHead) => Who | Promise<Who> }
  /** A vendor's signature over the raw body. If `verifierOf` returns undefined, no vendor signs here: `not_found`. */
  | {
      readonly by: 'signature';
      readonly verifierOf: (
        params: PathParams,
      ) => VerifySignature<Who> | undefined | Promise<VerifySignature<Who> | undefined>;
    }
  /** Anybody may call the route. */
  | { readonly by: 'none' };

export type PathParams = Readonly<Record<string, string>>;

/** How a body is read. `Body` is the type of the handler's `body`. */
export type BodyReader<Body> =
  | {
      readonly as: 'json';
      readonly schema: z.ZodType<Body>;
      /** True if an empty body counts as `{}`. */
      readonly optional: boolean;
      /** By default, the deployment's limit. `messages`: the limit for bodies with messages, which may contain images. */
      readonly bytesMax?: number | 'messages';
    }
  /** Fields of an HTML form; undefined if the body is larger or not a form. */
  | { readonly as: 'form'; readonly bytesMax: number }
  /** The exact bytes, for a signature. Throws `too_large`. */
  | { readonly as: 'raw'; readonly bytesMax: number };

/** The input of a handler, already verified and checked. */
export interface RouteCall<Query = unknown, Body = unknown, Who = Caller> {
  readonly caller: Who;
  readonly params: PathParams;
  readonly query: Query;
  readonly body: Body;
  readonly head: RequestHead;
  readonly header: (name: string) => string | undefined;
  /** Aborted when the caller disconnects or the pod drains. It is created at its first use. */
  readonly signal: AbortSignal;
  /**
   * Calls the listener once when the signal would be aborted, or at once if it already would be. It costs a stream less than
   * the signal.
   */
  readonly whenOver: (listener: () => void) => void;
  /** True once the pod drains. */
  readonly draining: boolean;
  /**
   * When the caller's token expires, in ms since 1970 on this pod's clock. Absent if the caller was not authenticated by a
   * token.
   */
  readonly expiresAtMs?: number | undefined;
  /** The OAuth client of the caller's token, if the token names it. */
  readonly clientId?: string | undefined;
  /** Resolves when the caller's budget admits the call. Handlers that write or read a lot await it first. */
  readonly admitted: Promise<void>;
}

export type Reply =
  | {
      readonly type: 'json';
      readonly status: number;
      readonly body: unknown;
      readonly headers?: ReplyHeaders;
    }
  | { readonly type: 'empty'; readonly status: number; readonly headers?: ReplyHeaders }
  /** Text with all its headers except the length. */
  | { readonly type: 'text'; readonly status: number; readonly body: string; readonly headers: ReplyHeaders }
  /** Server-sent events. */
  | ({ readonly type: 'events' } & EventsReply)
  /** Text in pieces that are sent as they come. A source that throws or returns `cut` destroys the connection. */
  | {
      readonly type: 'pieces';
      readonly pieces: AsyncIterator<string, unknown>;
      /** True if the source ends soon after the pod drains or the token expires. Its end is still sent. */
      readonly endsItself?: true;
      /** True if the bytes count against the caller's budget. The reply pauses while the budget is used up. */
      readonly isCounted?: true;
      readonly headers: ReplyHeaders;
    };

/** The description of a route in OpenAPI. */
export interface RouteDocs {
  /** The heading in the documentation under which the call is listed. */
  readonly group:
    | 'Questions'
    | 'Approvals'
    | 'Streams'
    | 'Webhooks'
    | 'Chats'
    | 'MCP'
    | 'A2A'
    | 'AG-UI'
    | 'Accounts'
    | 'Users'
    | 'Operations'
    | 'Workflows';
  readonly summary: string;
  readonly description?: string;
  /** Request headers, by name. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Successful replies by status. */
  readonly replies: Readonly<
    Record<number, { readonly description: string; readonly schema?: z.ZodType; readonly events?: true }>
  >;
  /** Error codes in addition to those that every route has. */
  readonly errors?: readonly string[];
  /** An example call: the rest of the URL after the path, the body, and the reply as JSON or, for a stream, as text. */
  readonly example: { readonly query?: string; readonly body?: unknown; readonly reply: unknown };
}

interface RouteOf<Query, Body, Who> {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** The path. Segments that begin with a colon are parameters, for example `/v1/elicitations/:id`. */
  readonly path: string;
  readonly proof: Proof<Who>;
  readonly body?: BodyReader<Body>;
  readonly query?: z.ZodType<Query>;
  /**
   * `never`: pages of other origins may not call. This is always so for routes with a session. By default, pages of the listed
   * origins may call.
   */
  readonly cors?: 'never';
  /** True if the route only reads. HEAD then works as GET without a body, and no other method exists. */
  readonly readsOnly?: true;
  /** True if parameters are passed as sent. By default they are percent-decoded. */
  readonly rawParams?: true;
  /**
   * True if the call opens an event stream, as returning readers do. On each pod, questions and answers take precedence over
   * it.
   */
  readonly opensStream?: boolean;
  /** `own`: the handler counts the call's cost itself. By default, a call with a bearer token counts against its budget. */
  readonly limits?: 'own';
  /**
   * The parameter with the id of the elicitation that a call answers. The call then also counts against the limit on answers.
   */
  readonly answers?: string;
  /** If absent, the route is not part of the documented API and its calls are not measured. */
  readonly docs?: RouteDocs;
  readonly handle: (call: RouteCall<Query, Body, Who>) => Promise<Reply>;
  /**
   * Makes the reply for an error. By default, or if it returns undefined, the reply is problem+json. `caller` is absent before
   * authentication.
   */
  readonly refuse?: (
    error: unknown,
    at: { readonly head: RequestHead; readonly caller?: Who },
  ) => Reply | undefined;
}

/** One route of a surface, with everything that serving it and describing it in OpenAPI needs. */
export type Route = RouteOf<unknown, unknown, unknown>;

/** Infers the types of a handler from the proof, the query and the body of its route. */
export function route<Query = undefined, Body = undefined, Who = undefined>(
  definition: RouteOf<Query, Body, Who>,
): Route {
  return definition as unknown as Route;
}

/** A group of routes that is mounted together. */
export interface Surface {
  readonly routes: readonly Route[];
  /**
   * Headers that pages of other origins may send and read, in lower case. `authorization`, `content-type`, `x-request-id` and
   * `retry-after` are always allowed.
   */
  readonly browserHeaders?: {
    readonly request?: readonly string[];
    readonly response?: readonly string[];
  };
  /**
   * A path under which everything belongs to this surface. Calls that it does not serve get `missing`, and pages of other
   * origins may not call. Paths are matched as sent, without decoding. Parameters are ids of `[A-Za-z0-9._-]{1,128}`, except
   * `.` and `..`.
   */
  readonly below?: { readonly path: string; readonly missing: (head: RequestHead) => Reply };
}

/** Admits users, service keys with one of these scopes, or both. */
export function bearer(...callers: readonly BearerCaller[]): Proof<Caller> {
  return { by: 'bearer', callers };
}

/** As `bearer`, with tokens that this check accepts. */
export function bearerFor(authenticate: Authenticate, ...callers: readonly BearerCaller[]): Proof<Caller> {
  return { by: 'bearer', callers, authenticate };
}

/** Admits service keys with this scope, and operators who signed in to the console. */
export function operator(scope: Scope = 'operate'): Proof<Caller> {
  return { by: 'operator', scope };
}

/** Admits anybody. */
export const ANYBODY: Proof<undefined> = { by: 'none' };

export function jsonBody<Body>(
  schema: z.ZodType<Body>,
  options: { readonly optional?: boolean; readonly bytesMax?: number | 'messages' } = {},
): BodyReader<Body> {
  return { as: 'json', schema, optional: false, ...options };
}

export function formBody(bytesMax: number): BodyReader<URLSearchParams | undefined> {
  return { as: 'form', bytesMax };
}

export function rawBody(bytesMax: number): BodyReader<Buffer> {
  return { as: 'raw', bytesMax };
}

export function json(status: number, body: unknown, headers?: ReplyHeaders): Reply {
  return { type: 'json', status, body, ...(headers !== undefined && { headers }) };
}
