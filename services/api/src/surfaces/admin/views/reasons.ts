import type { WhyFacts } from '@parley/shared/domain/why/facts';
import { why } from '@parley/shared/domain/why/why';
import { z } from 'zod';
import { languageOf } from '../../../http/headers/language.ts';
import { json, type Reply, type RouteCall, type RouteDocs } from '../../../http/route.ts';
import { SAMPLE_REASONS } from '../examples.ts';

const Reasons = z
  .object({ reasons: z.array(z.string()).describe('Sentences for people; their words may change.') })
  .meta({ id: 'Reasons' });

/** The documentation of a call that explains something. */
export const REASONS_DOCS = {
  headers: { 'Accept-Language': 'English or German (`de`); English for every other language.' },
  replies: { 200: { description: 'In sentences', schema: Reasons } },
  errors: ['not_found'],
} satisfies Partial<RouteDocs>;

export const REASONS_EXAMPLE = { reasons: SAMPLE_REASONS };

/** The reasons for a state, in the language that its caller prefers. */
export function reasonsReply(facts: WhyFacts, header: RouteCall['header']): Reply {
  const language = languageOf(header('accept-language'));
  return json(200, { reasons: why(facts, language) }, { 'content-language': language });
}
