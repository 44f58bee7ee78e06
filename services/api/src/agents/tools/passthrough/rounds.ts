import type { RoundRef } from '@parley/shared/ports/sealed';
import type { KeyRing } from '@parley/shared/vault/key-ring';
import { roundIdentity } from '@parley/shared/vault/records';
import { keyIdOf, seal, unseal } from '@parley/shared/vault/seal';
import { z } from 'zod';
import { ServerTask } from './server-task.ts';

/** A round of questions (MCP 2026-07-28). It is stored in the record of its call, so that any pod can continue the call. */
const QuestionRound = z.object({
  /** The number of rounds so far, including this one. */
  number: z.int().positive(),
  /** The number of questions in earlier rounds. */
  asked: z.int().nonnegative(),
  /** The number of texts that the agent's own model was asked to write in earlier rounds. */
  sampled: z.int().nonnegative().optional(),
  requests: z.record(z.string(), z.unknown()),
  state: z.string().optional(),
  /** Addresses of pages that the person agreed to open in earlier rounds. */
  opened: z.array(z.string()).optional(),
});
export type QuestionRound = z.infer<typeof QuestionRound>;

/** The progress of a call of a server's tool. */
export type CallProgress = QuestionRound | ServerTask;

/**
 * Seals the progress of calls in run records, because a server's data may contain secrets. It can be opened only for its call
 * and its server.
 */
export interface RoundSeals {
  seal(of: RoundRef, progress: CallProgress): string;
  /**
   * Undefined if it cannot be opened, for example because the key was removed. `isAged`: it should be sealed again with the
   * current key.
   */
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
