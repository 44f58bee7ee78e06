import { z } from 'zod';

/** A hint that an answer did not fit the form of a question, which stays open: the surface that shows the question may ask again. */
export const AnswerMisfit = z.object({ elicitationId: z.string() });
export type AnswerMisfit = z.infer<typeof AnswerMisfit>;
