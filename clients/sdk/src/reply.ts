import type { Elicitation } from '@parley/shared/domain/elicitations/elicitation';
import { ParleyClientError } from './errors.ts';

/** Some elicitations of a list, newest first. `nextCursor` leads to those that follow. */
export interface ElicitationPage {
  readonly elicitations: readonly Elicitation[];
  readonly nextCursor?: string;
}

/** Whether this looks like an elicitation: enough to tell Parley's replies from those of something in between. */
export function isElicitation(value: unknown): value is Elicitation {
  return hasText(value, 'elicitationId') && hasText(value, 'status');
}

export function elicitationIn(reply: unknown): Elicitation {
  if (isElicitation(reply)) return reply;
  throw notParley();
}

export function pageIn(reply: unknown): ElicitationPage {
  const page = reply as Partial<ElicitationPage> | null;
  if (page !== null && Array.isArray(page.elicitations)) return page as ElicitationPage;
  throw notParley();
}

function hasText(value: unknown, key: string): boolean {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, key) === 'string';
}

function notParley(): ParleyClientError {
  return new ParleyClientError('internal', "The reply is not one of Parley's; check baseUrl.");
}
