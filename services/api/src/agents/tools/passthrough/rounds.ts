import type { RoundRef } from '@parley/shared/ports/sealed';
import type { KeyRing } from '@parley/shared/vault/key-ring';
import { roundIdentity } from '@parley/shared/vault/records';
import { keyIdOf, seal, unseal } from '@parley/shared/vault/seal';
import { z } from 'zod';
import { ServerTask } from './server-task.ts';

/** A round of questions (MCP 2026-07-28), kept in the record of its call so that any pod can continue the call. */
const QuestionRound = z.object({
  /** How many rounds the call has had, this one included. */
  number: z.int().positive(),
  /** How many questions the earlier rounds had. */
  asked: z.int().nonnegative(),
  /** How many texts the earlier rounds had the agent's own model write. */
  sampled: z.int().nonnegative().optional(),
  requests: z.record(z.string(), z.unknown()),
  state: z.string().optional(),
  /** Addresses of pages that the person has agreed to open in earlier rounds. */
  opened: z.array(z.string()).optional(),
});
export type QuestionRound = z.infer<typeof QuestionRound>;

/** How far a call of a server's tool has come. */
export type CallProgress = QuestionRound | ServerTask;

/** Seals the progress of calls for run records: what a server says may contain anything. It opens only for its call and its server. */
export interface RoundSeals {
  seal(of: RoundRef, progress: CallProgress): string;
  /** Undefined when it cannot be read, such as with a key that was removed. `isAged`: another key should seal it. */
  unseal(of: RoundRef, sealed: string): OpenedProgress | undefined;
}

export interface OpenedProgress {
  readonly progress: CallProgress;
  readonly isAged: boolean;
}

const CallProgress = z.union([ServerTask, QuestionRound]);

export function createRoundSeals(keys: KeyRing): RoundSeals {
  return {
    seal: (of, progress) => seal(keys, roundIdentity(of), JSON.stringify(progress)),
    unseal(of, sealed) {
      try {
        const progress = CallProgress.parse(JSON.parse(unseal(keys, roundIdentity(of), sealed)));
        return { progress, isAged: keyIdOf(sealed) !== keys.activeId };
      } catch {
        return undefined;
      }
    },
  };
}
