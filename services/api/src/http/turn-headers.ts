import { REPLAYED } from './reply.ts';
import type { RouteCall } from './route.ts';

/** What a request for a turn says in headers, unparsed. */
export function turnOptions(header: RouteCall['header']) {
  return {
    supports: header('x-supports-elicitation'),
    delivery: header('x-parley-delivery'),
    idempotencyKey: header('idempotency-key'),
  };
}

/** What every reply about a turn says in headers: its conversation, and whether an earlier call had begun it. */
export function turnHeaders(run: {
  readonly conversationId: string;
  readonly isRepeat?: boolean;
}): Record<string, string> {
  return { 'x-conversation-id': run.conversationId, ...(run.isRepeat === true && REPLAYED) };
}

/** The `Idempotency-Key` of a request for a turn, for the docs. */
export const TURN_KEY_DOCS = {
  'Idempotency-Key':
    'The same key with the same message leads to the same turn: a repeat gets it from its first event, with `Idempotent-Replayed: true`.',
} as const;
