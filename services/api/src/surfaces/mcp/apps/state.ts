/** Reads what the card of a call shows. The card's requests are served in `serve.ts`, its page is in `clients/widget`. */

import type { Approval } from '@parley/core/domain/approvals/approval';
import type { Elicitation } from '@parley/core/domain/elicitations/elicitation';
import { isParleyError } from '@parley/core/domain/errors';
import { isApprovalId } from '@parley/core/domain/ids';
import type { CardProgress, CardStatus, ElsewhereLine } from '@parley/core/domain/runs/call-card';
import { toApprovalWire } from '@parley/shared/domain/approvals/wire';
import type { Caller } from '@parley/shared/domain/caller';
import { asClientShows } from '@parley/shared/domain/elicitations/client-view';
import { toWire } from '@parley/shared/domain/elicitations/row';
import type { RunRef } from '@parley/shared/domain/runs/run';
import type { McpDeps } from '../deps.ts';
import { approvalPageOf, hostedPageOf, lineOfCall, lineOfQuestion } from '../waiting/told.ts';
import { isShown, type ShownModes } from '../waiting/waits.ts';
import { latestProgress } from './progress.ts';

type CardUser = Caller & { readonly kind: 'user' };

/** The state of a call that its card shows. */
export interface CardState {
  readonly state: CardStatus;
  /**
   * The questions, without answers. A question that is not answered in the card is a url question with the address of the
   * hosted page.
   */
  readonly questions: readonly Elicitation[];
  readonly elsewhere: readonly ElsewhereLine[];
  /** The approvals that are decided in the card. */
  readonly approvals: readonly Approval[];
  /** Present while the call is working, if there is more to say than that. */
  readonly progress?: CardProgress;
}

export const UNKNOWN_CALL: CardState = { state: 'unknown', questions: [], elsewhere: [], approvals: [] };

// The maximum number of records that are read: more than a call has open at once.
const OPEN_MAX = 50;

interface CardStateRequest {
  readonly caller: CardUser;
  readonly run: RunRef;
  /** The questions that the client shows itself. The card does not show them. */
  readonly shows: ShownModes;
  /** The records that the card shows. Their state is returned even after they have ended. */
  readonly shown: readonly string[];
  readonly mayApprove: boolean;
}

/** Reads what a call waits for. The number of reads does not depend on the length of its feed. */
export async function readCardState(
  deps: Pick<McpDeps, 'engine' | 'turns' | 'answerPage' | 'connectBaseUrl'>,
  { caller, run, shows, shown, mayApprove }: CardStateRequest,
): Promise<CardState> {
  const { engine, turns } = deps;
  const owner = { tenant: caller.tenant, userId: caller.userId };
  const page = { owner, conversationId: run.conversationId, limit: OPEN_MAX };
  const [standing, open, pending] = await Promise.all([
    turns.readStanding(run),
    engine.list({ ...page, statuses: ['pending', 'opened'] }),
    engine.approvals.list({ ...page, statuses: ['pending'] }),
  ]);
  const listed = new Set([...open.rows, ...pending.rows].map(({ id }) => id));
  const unlisted = shown.filter((id) => !listed.has(id));
  const ended = await Promise.all(unlisted.map((id) => readOwn(deps, caller, run, id)));
  const asked = open.rows.map((row) => toWire(row, { now: open.now, content: false }));
  const seen = [
    ...asked.filter((question) => !isShown(asClientShows(question), shows)),
    ...ended.flatMap(({ question }) => question ?? []),
  ];
  const views = seen.map((question) => ({ question, view: cardView(deps, question) }));
  const approvals = pending.rows.map((row) => toApprovalWire(row, { now: pending.now, content: false }));
  const decided = ended.flatMap(({ approval }) => approval ?? []);
  const isWaiting = asked.length + approvals.length > 0;
  const isRunning = standing?.status === 'running';
  const state = isRunning ? (isWaiting ? 'waiting' : 'working') : 'ended';
  const progress = state === 'working' ? await latestProgress(engine.newestEvents(run)) : undefined;
  return {
    state,
    ...(progress !== undefined && { progress }),
    questions: views.flatMap(({ view }) => view ?? []),
    elsewhere: [
      ...views.flatMap(({ question, view }) =>
        view === undefined ? [{ id: question.elicitationId, text: lineOfQuestion(question) }] : [],
      ),
      ...(mayApprove ? [] : approvals).map((one) => approvalLine(deps, one)),
    ],
    approvals: mayApprove ? [...approvals, ...decided] : [],
  };
}

function approvalLine(hosted: Pick<McpDeps, 'answerPage'>, approval: Approval): ElsewhereLine {
  const url = approvalPageOf(hosted, approval);
  return { id: approval.approvalId, text: lineOfCall(approval), ...(url !== undefined && { url }) };
}

/** A question or an approval of the call in any state; undefined if it belongs to another call. */
async function readOwn(
  { engine }: Pick<McpDeps, 'engine'>,
  caller: CardUser,
  { conversationId }: RunRef,
  id: string,
): Promise<{ readonly question?: Elicitation; readonly approval?: Approval }> {
  try {
    if (isApprovalId(id)) {
      const { row, now } = await engine.approvals.read(caller, id);
      const approval = toApprovalWire(row, { now, content: false });
      return approval.conversationId === conversationId ? { approval } : {};
    }
    const { row, now } = await engine.read(caller, id);
    const question = toWire(row, { now, content: false });
    return question.conversationId === conversationId ? { question } : {};
  } catch (error) {
    if (isParleyError(error, 'not_found')) return {};
    throw error;
  }
}

/** True for a question that may be answered in the card: its host may read the answer, and may let its model give one. */
export function isAnsweredInCard({ mode, sensitive }: Pick<Elicitation, 'mode' | 'sensitive'>): boolean {
  return mode === 'form' && sensitive !== true;
}

/** A question as the card shows it. Undefined if the user is asked in a place without an address. */
export function cardView(
  hosted: Pick<McpDeps, 'answerPage' | 'connectBaseUrl'>,
  question: Elicitation,
): Elicitation | undefined {
  const { answerUrl: _answerUrl, ...rest } = question;
  if (isAnsweredInCard(question)) return rest;
  const url = hostedPageOf(hosted, question);
  if (url === undefined) return undefined;
  const { requestedSchema: _schema, content: _content, ...shown } = rest;
  return { ...shown, mode: 'url', url, completion: 'server' };
}
