import type { RoundRef } from '@parley/shared/ports/sealed';
import type { KeyRing } from '@parley/shared/vault/key-ring';
import { roundIdentity } from '@parley/shared/vault/records';
import { keyIdOf, seal, unseal } from '@parley/shared/vault/seal';
import { z } from 'zod';

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

/** Seals rounds for run records: the server's state may contain anything. A round opens only for its call and its server. */
export interface RoundSeals {
  seal(of: RoundRef, round: QuestionRound): string;
  /** Undefined when it cannot be read, such as with a key that was removed. `isAged`: another key should seal it. */
  unseal(of: RoundRef, sealed: string): OpenedRound | undefined;
}

export interface OpenedRound {
  readonly round: QuestionRound;
  readonly isAged: boolean;
}

export function createRoundSeals(keys: KeyRing): RoundSeals {
  return {
    seal: (of, round) => seal(keys, roundIdentity(of), JSON.stringify(round)),
    unseal(of, sealed) {
      try {
        const round = QuestionRound.parse(JSON.parse(unseal(keys, roundIdentity(of), sealed)));
        return { round, isAged: keyIdOf(sealed) !== keys.activeId };
      } catch {
        return undefined;
      }
    },
  };
}
