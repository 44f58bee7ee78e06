/**
 * The server object for cards inside an MCP Apps host, where every call goes through the host's tools. The cards themselves do
 * not know that they are inside a host.
 */

import type { ApprovalChoice } from '@parley/core';
import { isRecord } from '@parley/core/domain/plain-record';
import {
  CARD_STATUSES,
  type CardProgress,
  type CardStatus,
  type ElsewhereLine,
} from '@parley/core/domain/runs/call-card';
import { type Approval, isApproval } from '../approval.ts';
import { createServerClock } from '../clock.ts';
import { type Elicitation, isElicitation, isOpen } from '../elicitation.ts';
import { Refusal } from '../server/refusal.ts';
import type { Answer, ApprovalCardServer, CardServer } from '../server/type.ts';
import type { Host } from './host.ts';

/** The call of this card as its host knows it. */
interface HostedCall {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** What the call is waiting for. */
export interface WaitingState {
  readonly state: CardStatus;
  readonly questions: readonly Elicitation[];
  readonly approvals: readonly Approval[];
  /** What is decided elsewhere, with the page for it. */
  readonly elsewhere: readonly Omit<ElsewhereLine, 'id'>[];
  /** The unchecked progress of the call; empty if it has reported none. */
  readonly progress: Readonly<Partial<Record<keyof CardProgress, unknown>>>;
}

/** The cards' connection to Parley: tools that the host calls for them. */
export interface CallServer extends CardServer, ApprovalCardServer {
  /** Reads what the call is waiting for. Rejects with a Refusal. */
  waiting(shown: readonly string[]): Promise<WaitingState>;
}

interface CallServerDeps {
  readonly host: Pick<Host, 'request'>;
  readonly call: () => HostedCall;
  /** Reads the call again. Rejects with a Refusal. */
  readonly refresh: () => Promise<WaitingState>;
  readonly viewOf: (elicitationId: string) => Elicitation | undefined;
}

const STATES: readonly unknown[] = CARD_STATUSES;
const noLine = () => () => undefined;

export function createCallServer({ host, call, refresh, viewOf }: CallServerDeps): CallServer {
  const { now, note } = createServerClock();

  async function callTool(name: string, more: object): Promise<Readonly<Record<string, unknown>>> {
    const sentAt = performance.now();
    const params = { name, arguments: { ...call(), ...more } };
    // A host that refuses or does not reply is treated like a lost network, so that the answer is sent again.
    const result = await host.request('tools/call', params).catch((cause: unknown) => {
      throw new Refusal({ status: 0, code: 'offline', cause });
    });
    const data = isRecord(result.structuredContent) ? result.structuredContent : {};
    if (result.isError === true) throw refusalIn(data);
    for (const view of [data.elicitation, data.approval])
      if (isRecord(view) && typeof view.serverTime === 'string')
        note(view.serverTime, performance.now() - sentAt);
    return data;
  }

  return {
    now,
    noteTime: (serverTime) => note(serverTime),
    // Nothing is followed, because the page feeds the cards with the results of `waiting`.
    follow: noLine,
    followApproval: noLine,
    async waiting(shown) {
      const data = await callTool('parley_waiting', { shown });
      const { state, questions, approvals, elsewhere, progress } = data;
      if (!STATES.includes(state)) throw new Refusal({ status: 0, code: 'offline' });
      return {
        state: state as CardStatus,
        questions: listOf(questions, isElicitation),
        approvals: listOf(approvals, isApproval),
        elsewhere: listOf(elsewhere, isLine),
        progress: isRecord(progress) ? progress : {},
      };
    },
    async read(elicitationId) {
      await refresh();
      const view = viewOf(elicitationId);
      if (view === undefined) throw new Refusal({ status: 404, code: 'not_found' });
      return view;
    },
    async answer(id, response: Answer) {
      const view = viewOf(id);
      // The host opens the page, and there a signed-in person gives the consent and the answer; nothing is sent from here.
      if (view?.mode === 'url') return isOpen(view) ? { ...view, status: 'opened' } : view;
      const { elicitation } = await callTool('parley_answer', { id, response });
      if (!isElicitation(elicitation)) throw new Refusal({ status: 0, code: 'offline' });
      return elicitation;
    },
    async readApproval(approvalId) {
      const found = (await refresh()).approvals.find((one) => one.approvalId === approvalId);
      if (found === undefined) throw new Refusal({ status: 404, code: 'not_found' });
      return found;
    },
    async decide(id, response: ApprovalChoice) {
      const { approval } = await callTool('parley_answer', { id, response });
      if (!isApproval(approval)) throw new Refusal({ status: 0, code: 'offline' });
      return approval;
    },
  };
}

function listOf<Item>(value: unknown, isItem: (item: unknown) => item is Item): readonly Item[] {
  return Array.isArray(value) ? value.filter(isItem) : [];
}

function isLine(value: unknown): value is WaitingState['elsewhere'][number] {
  if (!isRecord(value) || typeof value.text !== 'string') return false;
  const { url } = value;
  return url === undefined || (typeof url === 'string' && /^https?:/i.test(url) && URL.canParse(url));
}

/** The refusal in the result of a tool; undefined for a result of the host itself, which has none of Parley's codes. */
function refusalIn({ status, code, errors, elicitation, approval, retryAfterSeconds }: Refused): Refusal {
  const isOurs = typeof status === 'number' && typeof code === 'string';
  return new Refusal({
    status: isOurs ? status : 0,
    code: isOurs ? code : 'offline',
    errors: listOf(errors, (one): one is Refusal['errors'][number] => isRecord(one) && 'path' in one),
    elicitation: isElicitation(elicitation) ? elicitation : undefined,
    approval: isApproval(approval) ? approval : undefined,
    retryAfterSeconds: typeof retryAfterSeconds === 'number' ? retryAfterSeconds : undefined,
  });
}

type Refused = Readonly<Record<string, unknown>>;
