import { z } from 'zod';
import { SAMPLE_REASONS } from '../examples.ts';

/** Why something is as it is. */
export const Reasons = z
  .object({ reasons: z.array(z.string()).describe('Sentences for people; their words may change.') })
  .meta({ id: 'Reasons' });

export const REASONS_EXAMPLE = { reasons: SAMPLE_REASONS };
