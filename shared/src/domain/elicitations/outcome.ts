import type { TerminalStatus } from '@parley/core/domain/elicitations/status';

/**
 * The texts of one outcome, one for each audience. Outcomes must never be confused: silence is not consent, and expiry is not
 * refusal.
 */
interface OutcomeTexts {
  /** The text for the model. It says how the model must treat the outcome. */
  readonly model: string;
  /** The text on a settled card. */
  readonly person: string;
  /** The word for logs and metric labels. */
  readonly log: TerminalStatus;
}

export const OUTCOMES: Readonly<Record<TerminalStatus, OutcomeTexts>> = {
  accepted: {
    model: 'The user accepted. Use the answer they gave.',
    person: 'Answered',
    log: 'accepted',
  },
  declined: {
    model:
      'The user explicitly declined. Do not ask again; go on without it or explain what is not possible.',
    person: 'Declined',
    log: 'declined',
  },
  cancelled: {
    model:
      'The user dismissed the question without choosing. This is neither consent nor refusal; you may offer it again if they raise it.',
    person: 'Dismissed',
    log: 'cancelled',
  },
  expired: {
    model:
      'Nobody answered before the deadline. This is neither consent nor refusal; say that the question timed out.',
    person: 'Timed out',
    log: 'expired',
  },
  withdrawn: {
    model: 'The question was taken back before anyone answered. Do not treat it as an answer.',
    person: 'No longer needed',
    log: 'withdrawn',
  },
};

const UNKNOWN_OUTCOME =
  'The question has ended in a way that this version does not know. This is neither consent nor refusal.';

/** The model's text about an ended question, also for a status that only a newer build knows. */
export function modelTextOf(status: TerminalStatus): string {
  const known: Readonly<Partial<Record<string, OutcomeTexts>>> = OUTCOMES;
  return known[status]?.model ?? UNKNOWN_OUTCOME;
}
