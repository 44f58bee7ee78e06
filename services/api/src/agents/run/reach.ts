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

/** What a deployment has for people whose client cannot show a question. */
export interface ReachDeps {
  /** True when owners can sign in on the hosted answer page. */
  readonly hasAnswerPage: boolean;
  /** True when a channel such as Slack is configured. */
  readonly hasChannel?: boolean;
}

/** How a question of a turn gets to its person. */
export type ReachOfQuestion = (question: QuestionShape) => Reach;

/** The reach of the questions of one turn, whose agent may have a channel notify people. */
export function createReach(
  { hasAnswerPage, hasChannel = false }: ReachDeps,
  support: Support,
  rules?: NotifyRules,
): ReachOfQuestion {
  const person = { ...support, page: hasAnswerPage, notify: hasChannel && rules !== undefined };
  return (question) => reachOf(needsOf(question), person);
}

/** The same engine, for questions of which a channel notifies their person. */
export function withNotices<Given extends Pick<Engine, 'ask'>>(
  engine: Given,
  rules: NotifyRules | undefined,
): Given {
  return rules === undefined
    ? engine
    : { ...engine, ask: (request) => engine.ask({ ...request, notify: rules }) };
}

/**
 * Notes that one reader of a turn, its client, was sent open questions and approvals, so that channels notify the person of
 * them later. Each is noted once; a question that this client cannot show is not. Never rejects: without the note the
 * person is notified as well.
 */
export function createSeenNotes(
  { engine, runs }: { readonly engine: Pick<Engine, 'notices'>; readonly runs: Pick<Runs, 'read'> },
  stream: StreamRef,
): (asked: Elicitation | Approval) => Promise<void> {
  const support = once(async () => (await runs.read(stream)).run?.support);
  const note = oncePerRecord(async (asked) => {
    if ('elicitationId' in asked) {
      const client = await support();
      // A form that only its page can show comes as a url question.
      if (client === undefined) return;
      if (reachOf(needsOf(asked), { ...client, page: false, notify: false }) !== 'client') return;
    }
    await engine.notices.seen(stream, asked);
  });
  // It fails where Redis is unavailable.
  return (asked) => note(asked).catch(() => undefined);
}
