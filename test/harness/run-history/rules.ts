import type { RunDossier } from './index-runs.ts';

/**
 * What must hold for every turn of an agent, whatever becomes of the pods:
 *
 * | rule | what it says |
 * |---|---|
 * | R1 | a turn that began finishes, once |
 * | R2 | what is told is what the model said: whole, in order, nothing twice |
 * | R3 | a call with an effect reaches its server once at most |
 * | R4 | the outcome of a call is told once, and it is true |
 * | R5 | a question is asked once |
 * | R6 | its answer is used, and no other |
 * | R7 | terms rise one by one |
 * | R8 | a term has one owner |
 * | R9 | nothing is written under an older term once there is a newer one, nor after the end |
 * | R10 | whoever means to write under a term owns it |
 * | R11 | readers see text in order; a connection that ends as a finished turn does has shown all of it |
 * | R12 | what is remembered is what was told |
 * | R13 | nothing is left behind |
 */
export const RUN_RULES = [
  'R1',
  'R2',
  'R3',
  'R4',
  'R5',
  'R6',
  'R7',
  'R8',
  'R9',
  'R10',
  'R11',
  'R12',
  'R13',
] as const;

export type RunRuleName = (typeof RUN_RULES)[number];

/** A rule about one conversation; yields one message per breach. */
export type RunRule = (dossier: RunDossier) => Iterable<string>;
