import type { IncomingMessage } from 'node:http';
import { ParleyError } from '@parley/core/domain/errors';
import type { Caller } from '@parley/shared/domain/caller';
import { hasScope } from '@parley/shared/domain/service-key';
import type { Authenticate } from '../auth.ts';
import type { BearerCaller, RequestHead, Route } from '../route.ts';
import type { OperatorSessions } from './operator-sessions.ts';

/** The parts that authenticate a caller. */
export interface ProofDeps {
  readonly authenticate: Authenticate;
  /** Absent if there is no console. */
  readonly operators?: OperatorSessions | undefined;
}

/** The verified facts about a caller. */
export interface Proven {
  caller?: unknown;
  /** When the proof expires, on this pod's clock. */
  expiresAtMs?: number;
  clientId?: string | undefined;
}

/** Authenticates the caller from the head of the request. Throws `unauthenticated` and `forbidden`. */
export async function proveByHead(
  { authenticate, operators }: ProofDeps,
  { proof, method }: Route,
  req: IncomingMessage,
  head: RequestHead,
): Promise<Proven> {
  if (proof.by === 'session') return { caller: await proof.read(head) };
  if (proof.by === 'operator') {
    // A request with a token is judged by the token alone, so a cookie cannot add any rights.
    if (operators !== undefined && req.headers.authorization === undefined)
      return operators.admit(head, method !== 'GET');
    const proven = await authenticate(req);
    admitCaller(proven.caller, [proof.scope]);
    return proven;
  }
  if (proof.by !== 'bearer') return {};
  const proven = await (proof.authenticate ?? authenticate)(req);
  admitCaller(proven.caller, proof.callers);
  return proven;
}

/** Throws `forbidden` for a caller that the route does not list. */
function admitCaller(caller: Caller, callers: readonly BearerCaller[]): void {
  const scopes = callers.filter((listed) => listed !== 'user');
  if (caller.kind === 'user') {
    if (!callers.includes('user')) throw forbidden('This call needs a service key.');
  } else if (scopes.length === 0) {
    throw forbidden("This call needs a user's token; a service key is nobody's user.");
  } else if (caller.scopes !== undefined && !hasScope(caller.scopes, scopes)) {
    throw forbidden(`This call needs a service key with the scope ${scopes.join(' or ')}.`);
  }
}

function forbidden(detail: string): ParleyError {
  return new ParleyError('forbidden', detail);
}
