/**
 * Records the answers to the interrupts of a run, all or none. Their form is in `questions.ts`, the continued stream in
 * `routes.ts`.
 */

import { readApprovalEvent } from '@parley/core/domain/approvals/events';
import { isParleyError, ParleyError } from '@parley/core/domain/errors';
import { type FeedPosition, isElicitationEvent } from '@parley/core/domain/events';
import { isApprovalId, messageIdOf, type StreamRef } from '@parley/core/domain/ids';
import { type Caller, notFound, unlessMissing } from '@parley/shared/domain/caller';
import type { ConversationRef } from '@parley/shared/domain/runs/run';
import { turnEventOf, waitsForPerson } from '@parley/shared/domain/runs/turn-events';
import type { Engine } from '@parley/shared/elicitations/engine';
import { admitAnswer, type CallLimits } from '../../http/limits/call-limits.ts';
import type { RouteCall } from '../../http/route.ts';
import { shownApproval } from '../../turns/approvals/shown.ts';
import { textOf } from '../../turns/messages.ts';
import { shownElicitation } from '../../turns/shown.ts';
import type { Turns } from '../../turns/turns.ts';
import type { ResumeEntry, RunInput } from './input.ts';
import { decisionOf, responseOf } from './questions.ts';
import type { AgUiEvent } from './shapes.ts';

/** The name of this surface in records. */
const SURFACE = 'ag-ui';

interface ResumeDeps {
  readonly engine: Engine;
  readonly limits: CallLimits;
  readonly turns: Pick<Turns, 'readRun'>;
}

interface ResumeRequest {
  readonly call: Pick<RouteCall, 'caller' | 'admitted'>;
  readonly thread: ConversationRef;
  readonly entries: readonly ResumeEntry[];
  readonly messages: RunInput['messages'];
}

/** The turn that continues. */
interface ResumedTurn {
  readonly stream: StreamRef;
  /** The position at which the answered run ended. Undefined if its reader must get the turn from the start. */
  readonly after: FeedPosition | undefined;
  /** A note for each answer that was not recorded because its interrupt had ended in another way. */
  readonly notes: readonly AgUiEvent[];
}

/**
 * Records the answers to the interrupts of a run, or none of them. An answer that comes after another one changes nothing.
 * Throws `not_found` for an interrupt that the thread never had, `invalid_request` if an open one is not answered, `expired`
 * for an answer that comes too late, and `invalid_answer`, `forbidden` and `rate_limited`.
 */
export async function resumeTurn(deps: ResumeDeps, request: ResumeRequest): Promise<ResumedTurn> {
  const { thread, messages } = request;
  const entries = [...new Map(request.entries.map((entry) => [entry.interruptId, entry])).values()];
  await request.call.admitted;
  const stream = await streamOf(deps, thread, entries);
  await refuseNewText(deps, stream, messages);
  const asked = await readAsked(deps, stream);
  const ids = new Set(entries.map(({ interruptId }) => interruptId));
  if (entries.some(({ interruptId }) => !asked.known.has(interruptId))) throw notFound();
  const all = [...ids];
  const end =
    asked.ends.findLast(({ open }) => all.every((id) => open.has(id))) ??
    asked.ends.find(({ open }) => all.some((id) => open.has(id)));
  const missing = [...(end?.open ?? [])].filter((id) => asked.open.has(id) && !ids.has(id));
  if (missing.length > 0)
    throw new ParleyError('invalid_request', `Answer all open interrupts together: ${missing.join(', ')}.`, {
      issues: missing.map((id) => ({ path: 'resume', message: `must address ${id}` })),
    });
  // All are checked before the first is recorded, because a person who corrects one may also change the others.
  for (const entry of entries) await answerOne(deps, request, entry, true);
  const notes: AgUiEvent[] = [];
  for (const entry of entries) notes.push(...(await answerOne(deps, request, entry, false)));
  return { stream, after: end?.position, notes };
}

/** The turn of a question or approval. */
type TurnOfRecord = Pick<StreamRef, 'streamRequestId'> & Pick<ConversationRef, 'conversationId'>;

/** The stream of the first interrupt that is stored and belongs to this thread. Throws `not_found`. */
async function streamOf(
  { engine }: ResumeDeps,
  { tenant, userId, conversationId }: ConversationRef,
  entries: readonly ResumeEntry[],
): Promise<StreamRef> {
  const person = { kind: 'user', tenant, userId } as const;
  for (const { interruptId: id } of entries) {
    const { streamRequestId, conversationId: of } = (await definitionOf(engine, person, id)) ?? {};
    if (streamRequestId !== undefined && of === conversationId) return { tenant, userId, streamRequestId };
  }
  throw notFound();
}

interface AskedInTurn {
  /** All questions and approvals of the turn so far. */
  readonly known: ReadonlySet<string>;
  /** The open ones. */
  readonly open: ReadonlySet<string>;
  /** The positions at which the whole turn waited, and for what. */
  readonly ends: readonly { readonly position: FeedPosition; readonly open: ReadonlySet<string> }[];
}

async function readAsked({ engine }: ResumeDeps, stream: StreamRef): Promise<AskedInTurn> {
  const known = new Set<string>();
  const open = new Set<string>();
  const ends: AskedInTurn['ends'][number][] = [];
  for await (const { position, event } of engine.replay(stream)) {
    const approval = readApprovalEvent(event);
    const id = isElicitationEvent(event) ? event.elicitationId : approval?.approvalId;
    if (id !== undefined) {
      known.add(id);
      const hasEnded = event.type === 'elicitation-resolved' || event.type === 'approval-resolved';
      if (hasEnded) open.delete(id);
      else open.add(id);
    } else if (waitsForPerson(turnEventOf(event))) ends.push({ position, open: new Set(open) });
  }
  return { known, open, ends };
}

/**
 * A message that comes together with answers would be lost, because the continued turn does not read it. The person's last
 * message counts as new unless it is the one that the turn answers. Throws `invalid_request`.
 */
async function refuseNewText(
  { turns }: Pick<ResumeDeps, 'turns'>,
  stream: StreamRef,
  messages: RunInput['messages'],
): Promise<void> {
  const sent = messages.findLast(({ role }) => role === 'user');
  if (sent === undefined) return;
  const answered = (await turns.readRun(stream))?.input;
  // Only texts are compared, because files may be omitted from what is stored.
  const isAnswered =
    answered === undefined || answered.some(({ content }) => textOf({ content }) === textOf(sent));
  const ofTurn = `${messageIdOf(stream.streamRequestId)}.`;
  const isAfterReply = messages.at(-1) === sent && messages.some(({ id }) => id.startsWith(ofTurn));
  if (isAnswered && !isAfterReply) return;
  throw new ParleyError('invalid_request', 'Answer the interrupts first, and then send the new message.', {
    issues: [{ path: `messages.${messages.length - 1}`, message: 'is new beside resume' }],
  });
}

/** Records one answer, or only checks it. Returns a note if it is not the recorded answer. */
async function answerOne(
  { engine, limits }: ResumeDeps,
  { call, thread }: ResumeRequest,
  entry: ResumeEntry,
  isTrial: boolean,
): Promise<AgUiEvent[]> {
  const { interruptId: id } = entry;
  const { tenant, userId, conversationId } = thread;
  const caller = { kind: 'user', tenant, userId } as const;
  if (isTrial) await admitAnswer(limits, { ...call, caller }, id);
  const common = { caller, id, surface: SURFACE, conversationId, isTrial };
  const isApproval = isApprovalId(id);
  const isKey = call.caller.kind === 'service';
  try {
    if (isApproval) {
      const response = decisionOf(entry);
      if (isKey) return refuseKey(await engine.approvals.read(caller, id));
      await engine.approvals.decide({ ...common, response });
      return [];
    }
    const seen = await engine.read(caller, id);
    const { mode, answerUrl } = seen.row.definition;
    const isForm = mode === 'form' && answerUrl === undefined;
    const response = responseOf(entry, isForm);
    if (isKey) return !isForm && response.action === 'accept' ? [] : refuseKey(seen);
    await engine.answer({ ...common, response });
    return [];
  } catch (error) {
    return endedOtherwise(error, entry);
  }
}

/** Only the person may answer. A service key may continue a run whose interrupts have ended, or were answered on a page. */
function refuseKey({ row: { status } }: { readonly row: { readonly status: string } }): AgUiEvent[] {
  if (status !== 'pending' && status !== 'opened') return [];
  throw new ParleyError('forbidden', 'Only the person may answer; a service key speaks for them otherwise.');
}

/** The note for an interrupt that had ended before its answer came. Throws all other errors. */
function endedOtherwise(error: unknown, { interruptId, status }: ResumeEntry): AgUiEvent[] {
  if (!isParleyError(error)) throw error;
  // The interrupt was asked in this turn, but its retention has ended.
  if (error.code === 'not_found') return [];
  const isLate = error.code === 'expired' && status === 'cancelled';
  if (error.code !== 'already_settled' && !isLate) throw error;
  const { elicitation, approval } = error;
  const shown =
    elicitation === undefined ? approval && shownApproval(approval) : shownElicitation(elicitation);
  return [{ type: 'CUSTOM', name: 'parley:answer-ignored', value: { interruptId, ...shown } }];
}

async function definitionOf(
  engine: ResumeDeps['engine'],
  person: Caller,
  id: string,
): Promise<TurnOfRecord | undefined> {
  const found = isApprovalId(id)
    ? await unlessMissing(engine.approvals.read(person, id))
    : await unlessMissing(engine.read(person, id));
  return found?.row.definition;
}
