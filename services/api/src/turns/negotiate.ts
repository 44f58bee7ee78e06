import { ParleyError } from '@parley/shared/domain/errors';
import { DELIVERIES, type Delivery, type Support } from '@parley/shared/domain/runs/run';
import type { Caller } from '@parley/shared/elicitations/caller';

const NONE: Support = { form: false, url: false };

/**
 * Which questions a caller's client can show: `x-supports-elicitation: true` (both modes), or `form`, `url`,
 * `form,url`. Nobody is there to ask where the caller is no user or waits for the whole reply.
 */
export function supportOf(header: string | undefined, caller: Caller, streams: boolean): Support {
  if (caller.kind !== 'user') return { ...NONE, nobody: true };
  if (header === undefined || !streams) return NONE;
  const words = header.split(',').map((word) => word.trim().toLowerCase());
  const all = words.includes('true');
  return { form: all || words.includes('form'), url: all || words.includes('url') };
}

/** What a caller wants of a turn that waits for its person (`x-parley-delivery`). Throws `invalid_request`. */
export function deliveryOf(header: string | undefined): Delivery {
  const word = header?.trim().toLowerCase() ?? 'hold';
  const delivery = DELIVERIES.find((known) => known === word);
  if (delivery === undefined) {
    throw new ParleyError('invalid_request', `X-Parley-Delivery must be ${DELIVERIES.join(' or ')}.`);
  }
  return delivery;
}
