import type { IncomingHttpHeaders } from 'node:http';
import type { Caller } from '@parley/shared/domain/caller';
import type { Scope } from '@parley/shared/domain/service-key';
import type { z } from 'zod';
import type { Authenticate } from './auth.ts';
import type { ReplyHeaders } from './send.ts';
import type { EventsReply } from './sse.ts';

/** The head of a request. */
export interface RequestHead {
  /** Path and query, as they were sent. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** Address of the peer: the client, or the last proxy. */
  readonly remoteAddress: string;
  /** The id that the reply names in `x-request-id`. */
  readonly requestId: string;
}

/** Checks a signature over the exact bytes of a body; returns what it proves. Throws `unauthenticated`. */
export type VerifySignature<Signer> = (body: Buffer, head: RequestHead) => Signer | Promise<Signer>;

/** A user, or a service key with this scope. */
export type BearerCaller = 'user' | Scope;

/** How the caller of a route proves who they are. `Who` is what the handler gets as `caller`. */
export type Proof<Who> =
  /** A user's token or a service key in `Authorization`. Callers that are not listed get `forbidden`. */
  | {
      readonly by: 'bearer';
      readonly callers: readonly BearerCaller[];
      /** Verifies tokens of an audience of their own; the deployment's check when absent. */
      readonly authenticate?: Authenticate;
    }
  /**
   * A service key with this scope, or the session of an operator in a tenant where a role of theirs allows the method:
   * every role reads, and the role `operator` changes.
   */
  | { readonly by: 'operator'; readonly scope: Scope }
  /** A cookie. Routes with one are never open to other origins. */
  | { readonly by: 'session'; readonly read: (head: RequestHead) => Who | Promise<Who> }
  /** A vendor's signature over the raw body. `verifierOf` returns nothing where no vendor signs: `not_found`. */
  | {
      readonly by: 'signature';
      readonly verifierOf: (
        params: PathParams,
      ) => VerifySignature<Who> | undefined | Promise<VerifySignature<Who> | undefined>;
    }
  /** Anybody may call. */
  | { readonly by: 'none' };

export type PathParams = Readonly<Record<string, string>>;

/** How a body is read. `Body` is what the handler gets as `body`. */
export type BodyReader<Body> =
  | {
      readonly as: 'json';
      readonly schema: z.ZodType<Body>;
      /** True when an empty body counts as `{}`. */
      readonly optional: boolean;
      /** The deployment's limit when absent; `messages`: its limit for bodies with messages, which may hold images. */
      readonly bytesMax?: number | 'messages';
    }
  /** Fields of an HTML form; nothing when the body is larger, or no form. */
  | { readonly as: 'form'; readonly bytesMax: number }
  /** The bytes as sent, as a signature needs them. Throws `too_large`. */
  | { readonly as: 'raw'; readonly bytesMax: number };

/** What a handler gets: everything already verified and checked. */
export interface RouteCall<Query = unknown, Body = unknown, Who = Caller> {
  readonly caller: Who;
  readonly params: PathParams;
  readonly query: Query;
  readonly body: Body;
  readonly head: RequestHead;
  readonly header: (name: string) => string | undefined;
  /** Aborted when the caller disconnects or the pod drains; created at its first use. */
  readonly signal: AbortSignal;
  /** Calls the listener once, when that happens, or at once where it has happened. It costs a stream less than the signal does. */
  readonly whenOver: (listener: () => void) => void;
  /** True once the pod drains. */
  readonly draining: boolean;
  /** When the caller's token expires, in ms since 1970 on this pod's clock; absent where no token is the proof. */
  readonly expiresAtMs?: number | undefined;
  /** The OAuth client of the caller's token, where the token names it. */
  readonly clientId?: string | undefined;
  /** Resolves when the caller's budget admits the call; handlers that write or read much await it first. */
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
  /** Text with all of its headers but the length. */
  | { readonly type: 'text'; readonly status: number; readonly body: string; readonly headers: ReplyHeaders }
  /** Server-sent events. */
  | ({ readonly type: 'events' } & EventsReply)
  /** Text in pieces, each sent as it comes. A source that throws or returns `cut` destroys the connection. */
  | {
      readonly type: 'pieces';
      readonly pieces: AsyncIterator<string, unknown>;
      /** True: the source ends by itself soon after the pod drains or the token expires, and its end is still sent. */
      readonly endsItself?: true;
      /** True: its bytes count against the budget of its caller, and it pauses while that is used up. */
      readonly isCounted?: true;
      readonly headers: ReplyHeaders;
    };

/** What OpenAPI says about a route. */
export interface RouteDocs {
  /** The heading under which the docs list the call. */
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
  /** Error codes beyond those every route has. */
  readonly errors?: readonly string[];
  /** One call: what comes after the path, its body, and its reply, as JSON or, of a stream, as text. */
  readonly example: { readonly query?: string; readonly body?: unknown; readonly reply: unknown };
}

interface RouteOf<Query, Body, Who> {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Segments that begin with a colon are parameters, e.g. `/v1/elicitations/:id`. */
  readonly path: string;
  readonly proof: Proof<Who>;
  readonly body?: BodyReader<Body>;
  readonly query?: z.ZodType<Query>;
  /** `never`: no other origin may call. Always so for routes with a session. By default the listed origins may. */
  readonly cors?: 'never';
  /** True: the route is for reading only. HEAD is GET without its body, and no other method exists. */
  readonly readsOnly?: true;
  /** True: parameters are handed over as sent. By default they are percent-decoded. */
  readonly rawParams?: true;
  /** True: the call opens an event stream, as a reader does that comes back. On each pod, questions and answers go first. */
  readonly opensStream?: boolean;
  /** `own`: the handler takes what the call costs. By default a call with a bearer token counts against its budget. */
  readonly limits?: 'own';
  /** The parameter that names the elicitation which a call answers. The call then counts against its answers, too. */
  readonly answers?: string;
  /** Absent: the route is not part of the documented API, and its calls are not measured. */
  readonly docs?: RouteDocs;
  readonly handle: (call: RouteCall<Query, Body, Who>) => Promise<Reply>;
  /** The reply for an error; problem+json where it is absent or returns nothing. `caller` is absent before the proof. */
  readonly refuse?: (
    error: unknown,
    at: { readonly head: RequestHead; readonly caller?: Who },
  ) => Reply | undefined;
}

/** One route of a surface: enough to serve it, and to describe it in OpenAPI. */
export type Route = RouteOf<unknown, unknown, unknown>;

/** Types a handler by the proof, the query and the body of its route. */
export function route<Query = undefined, Body = undefined, Who = undefined>(
  definition: RouteOf<Query, Body, Who>,
): Route {
  return definition as unknown as Route;
}

/** A group of routes that is mounted as one. */
export interface Surface {
  readonly routes: readonly Route[];
  /**
   * Headers that pages of other origins may send and read, by lower-case name. `authorization`, `content-type`,
   * `x-request-id` and `retry-after` are allowed without a declaration.
   */
  readonly browserHeaders?: {
    readonly request?: readonly string[];
    readonly response?: readonly string[];
  };
  /**
   * A path under which everything is this surface's: what it does not serve gets `missing`, and no other origin may
   * call anything. Paths are matched as sent, without decoding, and parameters are ids of `[A-Za-z0-9._-]{1,128}`
   * but `.` and `..`.
   */
  readonly below?: { readonly path: string; readonly missing: (head: RequestHead) => Reply };
}

/** Users, service keys with one of these scopes, or both. */
export function bearer(...callers: readonly BearerCaller[]): Proof<Caller> {
  return { by: 'bearer', callers };
}

/** The same, with a token that this check accepts. */
export function bearerFor(authenticate: Authenticate, ...callers: readonly BearerCaller[]): Proof<Caller> {
  return { by: 'bearer', callers, authenticate };
}

/** Service keys with this scope, and operators who signed in to the console. */
export function operator(scope: Scope = 'operate'): Proof<Caller> {
  return { by: 'operator', scope };
}

/** Anybody. */
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
