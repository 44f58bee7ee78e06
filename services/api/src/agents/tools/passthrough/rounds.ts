import type { Owner } from '@parley/shared/domain/ids';
import type { KeyRing } from '@parley/shared/vault/key-ring';
import { seal, unseal } from '@parley/shared/vault/seal';
import { z } from 'zod';

/** A round of questions (MCP 2026-07-28), kept in the record of its call so that any pod can continue the call. */
const QuestionRound = z.object({
  /** How many rounds the call has had, this one included. */
  number: z.int().positive(),
  /** How many questions the earlier rounds had. */
  asked: z.int().nonnegative(),
  requests: z.record(z.string(), z.unknown()),
  state: z.string().optional(),
  /** Addresses of pages that the person has agreed to open in earlier rounds. */
  opened: z.array(z.string()).optional(),
});
export type QuestionRound = z.infer<typeof QuestionRound>;

/** Seals rounds for run records: the server's state may contain anything. */
export interface RoundSeals {
  seal(place: RoundPlace, round: QuestionRound): string;
  /** Undefined when it cannot be read, such as with a key that was removed. */
  unseal(place: RoundPlace, sealed: string): QuestionRound | undefined;
}

/** A round opens only for the call and the server that it belongs to. */
export interface RoundPlace {
  readonly owner: Owner;
  readonly callKey: string;
  readonly serverId: string;
}

export function createRoundSeals(keys: KeyRing): RoundSeals {
  const identityOf = ({ owner: { tenant, userId }, callKey, serverId }: RoundPlace) =>
    ({ purpose: 'round', recordId: callKey, tenant, userId, toolId: serverId, connectorId: '' }) as const;

  return {
    seal: (place, round) => seal(keys, identityOf(place), JSON.stringify(round)),
    unseal(place, sealed) {
      try {
        return QuestionRound.parse(JSON.parse(unseal(keys, identityOf(place), sealed)));
      } catch {
        return undefined;
      }
    },
  };
}
