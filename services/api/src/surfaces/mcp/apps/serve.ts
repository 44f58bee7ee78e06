/** Serves the requests of a call's card. What the card shows is read in `state.ts`. */

import type { CallToolResult } from '@modelcontextprotocol/server';
import { isParleyError, ParleyError } from '@parley/core/domain/errors';
import { isApprovalId } from '@parley/core/domain/ids';
import { ApprovalInput } from '@parley/shared/domain/approvals/response-input';
import { toApprovalWire } from '@parley/shared/domain/approvals/wire';
import { notFound } from '@parley/shared/domain/caller';
import { ResponseInput } from '@parley/shared/domain/elicitations/response-input';
import { toWire } from '@parley/shared/domain/elicitations/row';
import type { RunRef } from '@parley/shared/domain/runs/run';
import type { z } from 'zod';
import { admitAnswer } from '../../../http/limits/call-limits.ts';
import { problemOf } from '../../../http/problem.ts';
import { userOf } from '../../../http/reply.ts';
import type { RouteCall } from '../../../http/route.ts';
import { joinDigest, runOfCall } from '../call-names.ts';
import { type Shows, supportOf } from '../capabilities.ts';
import type { McpDeps } from '../deps.ts';
import { MCP_SURFACE } from '../questions.ts';
import { callName } from '../waiting/call-keys.ts';
import { approvalPageOf, hostedPageOf } from '../waiting/told.ts';
import { cardView, isAnsweredInCard, readCardState, UNKNOWN_CALL } from './state.ts';
import { CardAnswerInput, isCardTool, WAITING_TOOL, WaitingInput } from './tools.ts';

type CardCall = Pick<WaitingInput, 'tool' | 'arguments'>;

/** A request of the card, which its host forwards. */
interface CardRequest {
  readonly name: string;
  readonly arguments?: unknown;
}

/** The tools of the card, for clients that declare apps. */
interface CardTools {
  /** True if a client with these capabilities may call a tool of this name as one of the card's. */
  has(name: unknown, shows: Shows): boolean;
  /**
   * Calls a tool of the card. Throws errors that are not the card's fault: `unavailable`, and exceeded budgets of the caller.
   */
  call(call: RouteCall, request: CardRequest, shows: Shows): Promise<CallToolResult>;
}

const PAGE_REQUIRED = 'page_required';
const ON_PAGE = 'This is not decided by a call of a tool: the user decides on the page.';
const IN_INBOX =
  'This is not decided by a call of a tool: the user decides where they were asked, or in the inbox of their application.';

/**
 * Serves the requests of a call's card. A host may let its model call these tools. So they reveal nothing that is kept from the
 * model, and decide nothing that needs the user in person: approvals, secrets, sensitive answers and pages. Approvals are
 * decided only in the cards of clients that the configuration names.
 */
export function createCardTools(
  deps: Pick<McpDeps, 'engine' | 'turns' | 'limits' | 'records' | 'answerPage' | 'connectBaseUrl' | 'card'>,
): CardTools {
  const { engine, records, card } = deps;
  const mayApprove = ({ clientId }: RouteCall) =>
    clientId !== undefined && card?.approveIn.has(clientId) === true;

  /** Finds the card's call as this client made it for this user. It is the call that an equal call would join. */
  async function callOf(call: RouteCall, named: CardCall, shows: Shows): Promise<RunRef | undefined> {
    const { tool: name, arguments: args } = named;
    const { clientId } = call;
    const digest = joinDigest({ name, arguments: args, support: supportOf(shows), clientId });
    const owner = userOf(call.caller);
    const key = await records.read(owner, callName(digest));
    return key === undefined ? undefined : runOfCall(owner, key);
  }

  async function waiting(call: RouteCall, given: unknown, shows: Shows): Promise<CallToolResult> {
    const input = parsed(WaitingInput, given);
    const caller = userOf(call.caller);
    const run = await callOf(call, input, shows);
    if (run === undefined) return shown(UNKNOWN_CALL, UNKNOWN_CALL.state);
    const request = { caller, run, shows, shown: input.shown, mayApprove: mayApprove(call) };
    const state = await readCardState(deps, request);
    return shown(state, state.state);
  }

  async function answer(call: RouteCall, given: unknown, shows: Shows): Promise<CallToolResult> {
    const input = parsed(CardAnswerInput, given);
    const { id } = input;
    const admitted = admitAnswer(deps.limits, call, id);
    await admitted;
    const run = await callOf(call, input, shows);
    if (run === undefined) throw notFound();
    return isApprovalId(id) ? decide(call, run, input, admitted) : answerQuestion(call, run, input, admitted);
  }

  async function answerQuestion(
    call: RouteCall,
    { conversationId }: RunRef,
    { id, response }: CardAnswerInput,
    admitted: Promise<void>,
  ): Promise<CallToolResult> {
    const caller = userOf(call.caller);
    const seen = await engine.read(caller, id);
    const question = toWire(seen.row, { now: seen.now, content: false });
    if (question.conversationId !== conversationId) throw notFound();
    if (!isAnsweredInCard(question)) return refused(hostedPageOf(deps, question));
    const input = parsed(ResponseInput, response);
    const surface = MCP_SURFACE;
    const { row, now } = await engine.answer({
      caller,
      id,
      response: input,
      surface,
      conversationId,
      admitted,
    });
    return shown({ elicitation: cardView(deps, toWire(row, { now, content: true })) }, row.status);
  }

  async function decide(
    call: RouteCall,
    { conversationId }: RunRef,
    { id, response }: CardAnswerInput,
    admitted: Promise<void>,
  ): Promise<CallToolResult> {
    const caller = userOf(call.caller);
    const seen = await engine.approvals.read(caller, id);
    if (seen.row.definition.conversationId !== conversationId) throw notFound();
    if (!mayApprove(call)) return refused(approvalPageOf(deps, { approvalId: id }));
    const input = parsed(ApprovalInput, response);
    const decision = { caller, id, response: input, surface: MCP_SURFACE, admitted };
    const { row, now } = await engine.approvals.decide(decision);
    return shown({ approval: toApprovalWire(row, { now, content: true }) }, row.status);
  }

  return {
    has: (name, { apps }) => card !== undefined && apps && isCardTool(name),
    async call(call, { name, arguments: given = {} }, shows) {
      await call.admitted;
      try {
        return await (name === WAITING_TOOL ? waiting : answer)(call, given, shows);
      } catch (error) {
        if (!isParleyError(error) || error.code === 'unavailable') throw error;
        const { body } = problemOf(error);
        return { ...shown({ ...body }, String(body.detail)), isError: true };
      }
    },
  };
}

function refused(url: string | undefined): CallToolResult {
  const message = url === undefined ? IN_INBOX : ON_PAGE;
  const problem = { status: 403, code: PAGE_REQUIRED, detail: message, ...(url !== undefined && { url }) };
  return { ...shown(problem, url === undefined ? message : `${message} ${url}`), isError: true };
}

function shown(structuredContent: object, text: string): CallToolResult {
  return { content: [{ type: 'text', text }], structuredContent: { ...structuredContent } };
}

function parsed<Schema extends z.ZodType>(schema: Schema, value: unknown): z.infer<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issues = result.error.issues.map(({ path, message }) => ({ path: path.join('.'), message }));
  throw new ParleyError('invalid_request', 'The arguments are not well formed; see errors.', { issues });
}
