import { Content } from '@parley/core/domain/elicitations/elicitation';
import { ACTIONS } from '@parley/core/domain/elicitations/status';
import { z } from 'zod';

/** How an elicitation ended. The commit adds the time at which it ended. */
export const Settlement = z.object({
  action: z.enum(ACTIONS).optional(),
  content: Content.optional(),
  responseId: z.string().optional(),
  reason: z.string().optional(),
  surface: z.string().optional(),
  /** The service key that withdrew or completed the elicitation, for logs. */
  key: z.string().optional(),
});
export type Settlement = z.infer<typeof Settlement>;
