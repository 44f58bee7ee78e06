import { needsOf, type QuestionShape, type Reach, reachOf } from '@parley/shared/domain/reach';
import type { Support } from '@parley/shared/domain/runs/run';

/** What a deployment has for people whose client cannot show a question. */
export interface ReachDeps {
  /** True when owners can sign in on the hosted answer page. */
  readonly hasAnswerPage: boolean;
}

/** How a question of a turn gets to its person. */
export type ReachOfQuestion = (question: QuestionShape) => Reach;

/** The reach of the questions of one turn. No channel notifies people yet. */
export function createReach({ hasAnswerPage }: ReachDeps, support: Support): ReachOfQuestion {
  const person = { ...support, page: hasAnswerPage, notify: false };
  return (question) => reachOf(needsOf(question), person);
}
