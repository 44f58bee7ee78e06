import { z } from 'zod';

/** A hint that a remote agent has pushed an update for the task of this call. The task itself is authoritative. */
export const PushedCall = z.object({ callKey: z.string() });
export type PushedCall = z.infer<typeof PushedCall>;
