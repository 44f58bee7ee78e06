import { z } from 'zod';

/** A person's account as operators see it: names and states, without secrets. */
export const AccountOfPerson = z
  .object({
    toolId: z.string(),
    service: z.string().describe('Title of the service, for people.'),
    state: z.enum(['connected', 'reconnect_required', 'not_connected']),
    managed: z.literal(true).optional().describe('Their company sign-in connected it.'),
    connectedAt: z.iso.datetime().optional().describe('When the credential was stored or last refreshed.'),
  })
  .meta({ id: 'AccountOfPerson' });
export type AccountOfPerson = z.infer<typeof AccountOfPerson>;
