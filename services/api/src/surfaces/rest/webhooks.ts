import type { Webhooks } from '@parley/shared/delivery/webhooks';
import { WEBHOOK_FAULTS } from '@parley/shared/domain/webhooks/webhook';
import { z } from 'zod';
import { SAMPLE_ELICITATION } from '../../http/docs/samples.ts';
import { bearer, json, type Route, route } from '../../http/route.ts';

const PAGE = 100;

const DeadLetter = z
  .object({
    deliveryId: z.string().describe('The `webhook-id` that the receiver saw.'),
    elicitationId: z.string(),
    attempts: z.int().describe('How often it was tried.'),
    lastError: z.enum(WEBHOOK_FAULTS).describe('Why the last attempt failed.'),
    lastStatus: z.int().optional().describe('What the receiver replied with last, if it did.'),
    diedAt: z.iso.datetime(),
  })
  .meta({ id: 'DeadLetter', description: 'A webhook that could not be delivered.' });

const DeadLetterPage = z
  .object({ deadLetters: z.array(DeadLetter), nextCursor: z.string().optional() })
  .meta({ id: 'DeadLetterPage' });

const PageQuery = z.strictObject({
  cursor: z
    .string()
    .regex(/^[0-9]{1,16}\.msg_el_[A-Za-z0-9_-]{24}$/, 'must be the nextCursor of an earlier page')
    .optional()
    .describe('`nextCursor` of the page before.'),
});

const DEAD_LETTER_EXAMPLE = {
  deliveryId: `msg_${SAMPLE_ELICITATION.elicitationId}`,
  elicitationId: SAMPLE_ELICITATION.elicitationId,
  attempts: 10,
  lastError: 'status',
  lastStatus: 503,
  diedAt: '2026-01-18T09:30:41.207Z',
};

/** The calls for a tenant's dead webhook deliveries: list them, and repeat one. */
export function webhookRoutes(webhooks: Webhooks): Route[] {
  return [
    route({
      method: 'GET',
      path: '/v1/webhooks/dead-letters',
      proof: bearer('read', 'operate'),
      query: PageQuery,
      docs: {
        group: 'Webhooks',
        summary: 'List webhooks that could not be delivered, newest first',
        example: { reply: { deadLetters: [DEAD_LETTER_EXAMPLE] } },
        replies: { 200: { description: 'A page', schema: DeadLetterPage } },
      },
      async handle({ caller: { tenant }, query: { cursor } }) {
        const page = await webhooks.deadLetters({
          tenant,
          limit: PAGE,
          ...(cursor !== undefined && { cursor }),
        });
        return json(200, { ...page, deadLetters: page.deadLetters.map(wireOf) });
      },
    }),
    route({
      method: 'POST',
      path: '/v1/webhooks/dead-letters/:deliveryId/redrive',
      proof: bearer('ask', 'operate'),
      docs: {
        group: 'Webhooks',
        summary: 'Deliver a webhook again, from its first attempt on',
        example: { reply: DEAD_LETTER_EXAMPLE },
        replies: { 200: { description: 'On its way; as it stood in the list', schema: DeadLetter } },
      },
      async handle({ caller: { tenant }, params, admitted }) {
        await admitted;
        return json(200, wireOf(await webhooks.redrive({ tenant, deliveryId: params.deliveryId ?? '' })));
      },
    }),
  ];
}

type DeadLetterRecord = Awaited<ReturnType<Webhooks['redrive']>>;

function wireOf({ diedAt, ...letter }: DeadLetterRecord): z.infer<typeof DeadLetter> {
  return { ...letter, diedAt: new Date(diedAt).toISOString() };
}
