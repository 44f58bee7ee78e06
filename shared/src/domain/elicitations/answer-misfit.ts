import { z } from 'zod';

/** A hint that an answer did not fit the form. The question stays open, and the surface that shows it may ask again. */
export const AnswerMisfit = z.object({ elicitationId: z.string() });
export type AnswerMisfit = z.infer<typeof AnswerMisfit>;
