import type { TerminalStatus } from './status.ts';

/** How one outcome reads to each audience. The five are never confused: silence is not consent, expiry is not refusal. */
export interface OutcomeTexts {
  /** What a model is told, so that it acts rightly. */
  readonly model: string;
  /** What a person sees on a settled card. */
  readonly person: string;
  /** One word for logs and metric labels. */
  readonly log: TerminalStatus;
}

/** The one table of outcome texts. */
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
