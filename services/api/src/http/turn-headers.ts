import { ParleyError } from '@parley/core/domain/errors';
import type { Caller } from '@parley/shared/domain/caller';
import { DELIVERIES, type Delivery, type Support } from '@parley/shared/domain/runs/run';
import type { StreamReader } from './limits/stream-places.ts';
import { REPLAYED } from './reply.ts';
import type { RouteCall, Surface } from './route.ts';

const NONE: Support = { form: false, url: false };

/**
 * Reads the settings of a turn from a request's headers. `streams` is true if the client reads the turn while it runs. Throws
 * `invalid_request`.
 */
export function readTurnHeaders({ caller, header }: Pick<RouteCall, 'caller' | 'header'>, streams: boolean) {
  return {
    support: readSupport(header('x-supports-elicitation'), caller, streams),
    delivery: readDelivery(header('x-parley-delivery')),
    idempotencyKey: header('idempotency-key'),
  };
}

/**
 * Support for forms by a client whose protocol forbids forms for sensitive answers. Older pods take it as no support for forms.
 */
const PLAIN_FORM = 'form;sensitive=?0';

/**
 * The kinds of questions that the client can show. The header is `true` (all kinds), `form`, `form;sensitive=?0`, `url`, or a
 * list of these. A client that waits for the whole reply can show none, and a service key has no person to ask.
 */
function readSupport(header: string | undefined, caller: Caller, streams: boolean): Support {
  if (caller.kind !== 'user') return { ...NONE, unattended: true };
  if (header === undefined || !streams) return NONE;
  const words = header.split(',').map((word) => word.replaceAll(/\s/g, '').toLowerCase());
  const all = words.includes('true');
  const form = all || words.includes('form');
  const isPlain = !form && words.includes(PLAIN_FORM);
  return {
    form: form || isPlain,
    url: all || words.includes('url'),
    ...(isPlain && { sensitiveForms: false }),
  };
}

/** The reader of a turn that a request begins, or finds by its idempotency key. */
export function turnReader(conversationId: string | undefined, header: RouteCall['header']): StreamReader {
  const isNamed = conversationId !== undefined;
  return {
    stream: isNamed ? `chat/${conversationId}` : 'chat',
    returns: isNamed && header('idempotency-key') !== undefined,
  };
}

/** How the stream behaves while the turn waits for its person: `hold` by default, or `detach`. */
function readDelivery(header: string | undefined): Delivery {
  const word = header?.trim().toLowerCase() ?? 'hold';
  const delivery = DELIVERIES.find((known) => known === word);
  if (delivery === undefined) {
    throw new ParleyError('invalid_request', `X-Parley-Delivery must be ${DELIVERIES.join(' or ')}.`);
  }
  return delivery;
}

/** The headers of every reply about a turn: its conversation, and whether an earlier call began it. */
export function turnHeaders(run: {
  readonly conversationId: string;
  readonly isRepeat?: boolean;
}): Record<string, string> {
  return { 'x-conversation-id': run.conversationId, ...(run.isRepeat === true && REPLAYED) };
}

/** The headers of requests for turns and of their replies, for `Surface.browserHeaders`. */
export const TURN_BROWSER_HEADERS = {
  request: [
    'idempotency-key',
    'last-event-id',
    'x-parley-delivery',
    'x-supports-elicitation',
    'x-supports-pages',
  ],
  response: ['idempotent-replayed', 'x-conversation-id'],
} satisfies Surface['browserHeaders'];

/** The `Idempotency-Key` of a request for a turn, for the documentation. */
export const TURN_KEY_DOCS = {
  'Idempotency-Key':
    'The same key with the same message leads to the same turn: a repeat gets it from its first event, with `Idempotent-Replayed: true`.',
} as const;
