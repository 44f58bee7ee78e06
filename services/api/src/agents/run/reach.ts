import type { Approval } from '@parley/core/domain/approvals/approval';
import type { Elicitation } from '@parley/core/domain/elicitations/elicitation';
import type { StreamRef } from '@parley/core/domain/ids';
import type { NotifyRules } from '@parley/core/domain/notify';
import { once } from '@parley/shared/async/once';
import { needsOf, type QuestionShape, type Reach, reachOf } from '@parley/shared/domain/reach';
import type { Support } from '@parley/shared/domain/runs/run';
import type { Engine } from '@parley/shared/elicitations/engine';
import { oncePerRecord } from '@parley/shared/elicitations/notices';
import type { Runs } from '@parley/shared/ports/runs/runs';

/** The ways in which a deployment reaches people whose client cannot show a question. */
export interface ReachDeps {
  /** True when owners can sign in on the hosted answer page. */
  readonly hasAnswerPage: boolean;
  /** True when a channel such as Slack is configured. */
  readonly hasChannel?: boolean;
}

/** Determines how a question of a turn reaches its person. */
export type ReachOfQuestion = (question: QuestionShape) => Reach;

/** The reach of the questions of one turn. Its agent may have a channel that notifies people. */
export function createReach(
  { hasAnswerPage, hasChannel = false }: ReachDeps,
  support: Support,
  rules?: NotifyRules,
): ReachOfQuestion {
  const person = { ...support, page: hasAnswerPage, notify: hasChannel && rules !== undefined };
  return (question) => reachOf(needsOf(question), person);
}

/** The same engine, for questions about which a channel notifies the person. */
export function withNotices<Given extends Pick<Engine, 'ask'>>(
  engine: Given,
  rules: NotifyRules | undefined,
): Given {
  return rules === undefined
    ? engine
    : { ...engine, ask: (request) => engine.ask({ ...request, notify: rules }) };
}

/**
 * Records which open questions and approvals were sent to a client of the turn, so that channels notify the person later. Each
 * is recorded once. A question that this client cannot show is not recorded. Never rejects: without the record, the person is
 * notified anyway.
 */
export function createSeenNotes(
  { engine, runs }: { readonly engine: Pick<Engine, 'notices'>; readonly runs: Pick<Runs, 'read'> },
  stream: StreamRef,
): (asked: Elicitation | Approval) => Promise<void> {
  const support = once(async () => (await runs.read(stream)).run?.support);
  const note = oncePerRecord(async (asked) => {
    if ('elicitationId' in asked) {
      const client = await support();
      // A form that only the hosted page can show is sent as a url question.
      if (client === undefined) return;
      if (reachOf(needsOf(asked), { ...client, page: false, notify: false }) !== 'client') return;
    }
    await engine.notices.seen(stream, asked);
  });
  // This fails while Redis is unavailable.
  return (asked) => note(asked).catch(() => undefined);
}
