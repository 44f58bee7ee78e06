/**
 * The pages of servers that a person sees in chats, and the calls that they make. Which pages are allowed is decided in
 * `agents/tools/passthrough/agent-pages.ts`.
 */

import { randomUUID } from 'node:crypto';
import { ParleyError } from '@parley/core/domain/errors';
import type { StreamRef } from '@parley/core/domain/ids';
import { withTimeLimit } from '@parley/shared/async/time-limit';
import { type Caller, notFound } from '@parley/shared/domain/caller';
import type { Support } from '@parley/shared/domain/runs/run';
import { type CallPage, turnEventOf } from '@parley/shared/domain/runs/turn-events';
import type { Engine } from '@parley/shared/elicitations/engine';
import { parseOneCallId } from '../../agents/run/one-call.ts';
import type { ServerPage } from '../../agents/tools/passthrough/agent-pages.ts';
import { type ShownApproval, shownApproval } from '../approvals/shown.ts';
import { type CallOutcome, createCallResult } from '../call-result.ts';
import { type FollowedEvent, followTurn } from '../follow.ts';
import { readReplayFacts } from '../replay.ts';
import { type ShownElicitation, shownElicitation } from '../shown.ts';
import type { Turns } from '../turns.ts';

/** A page, and the call that it shows. */
interface ShownPage {
  readonly page: ServerPage;
  /** The server's own name for the tool. */
  readonly tool: string;
  /** The arguments as the chat displays them. */
  readonly input: unknown;
  /** The result as the server sent it. */
  readonly result: unknown;
}

/** A question or approval for which a page's call waits. */
type PageWait =
  | { readonly type: 'approval'; readonly data: ShownApproval }
  | { readonly type: 'question'; readonly data: ShownElicitation };

/** The progress of a page's call. */
export type ViewCallState =
  | CallOutcome
  /** Everything that the call has asked, in its latest state. */
  | { readonly type: 'waiting'; readonly waits: readonly PageWait[] };

/** A person, and the id of a page that shows a call in one of the person's chats. */
interface PageRef {
  readonly person: Caller & { kind: 'user' };
  readonly pageId: string;
  readonly signal: AbortSignal;
}

/**
 * The pages of servers in the chats of agents. All methods throw `not_found` for a page that does not belong to the person or
 * is no longer shown, and for a page of an agent that no longer admits the person.
 */
export interface ChatPages {
  read(ref: PageRef): Promise<ShownPage>;
  /** Begins a call of the page, as an unlisted run of its own that continues without a reader. Returns its id. */
  begin(ref: PageRef, call: ViewCall): Promise<string>;
  /**
   * Waits until a call has ended, has asked more than `seen` things, or some time has passed. Throws `not_found` for any other
   * id.
   */
  follow(ref: PageRef, callId: string, seen: number): Promise<ViewCallState>;
}

/** A `tools/call` of a page. */
interface ViewCall {
  /** The server's own name for the tool. */
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly support: Support;
}

interface ChatPagesDeps {
  readonly engine: Pick<Engine, 'replay' | 'watchLive'>;
  readonly turns: Turns;
  /** How long a reader waits for changes of a call, in ms. */
  readonly waitMs: number;
}

export function createChatPages({ engine, turns, waitMs }: ChatPagesDeps): ChatPages {
  /** Finds the page's call by the last of its turn's events, because a step may have been repeated. */
  async function find({ person, pageId, signal }: PageRef) {
    const at = pageId.indexOf('~');
    const [streamRequestId, toolCallId] = [pageId.slice(0, at), pageId.slice(at + 1)];
    let agent: string | undefined;
    let input: unknown;
    let found: CallPage | undefined;
    for await (const { event } of engine.replay({ ...person, streamRequestId })) {
      const turn = turnEventOf(event);
      if (turn?.type === 'turn-started') agent = turn.agent;
      if (turn?.type === 'tool-called' && turn.toolCallId === toolCallId) input = turn.input;
      const ended = turn?.type === 'tool-returned' || turn?.type === 'tool-failed' ? turn.page : undefined;
      if (ended?.pageId === pageId) found = ended;
    }
    const isAdmitted = turns.listAgents(person).some(({ id }) => id === agent);
    if (agent === undefined || found === undefined || !isAdmitted) throw notFound();
    return { viewer: { ...person, agent, signal }, page: found, input };
  }

  return {
    async read(ref) {
      const { viewer, page, input } = await find(ref);
      const shown = await turns.pages.read(viewer, page);
      if (shown === undefined) throw notFound();
      return { page: shown, tool: page.tool, input, result: page.result };
    },
    async begin(ref, { name, arguments: args, support }) {
      const { viewer, page } = await find(ref);
      const target = await turns.pages.find({ ...viewer, ...turns.askableBy(support) }, page, name);
      if (target === undefined) throw new ParleyError('invalid_request', `Unknown tool: ${name}`);
      const conversation = { ...ref.person, conversationId: `page-${randomUUID()}` };
      const run = await turns.beginCall({
        conversation,
        target,
        arguments: args,
        support: { ...support, apps: true },
        delivery: 'detach',
      });
      return run.streamRequestId;
    },
    async follow(ref, callId, seen) {
      const { viewer, page } = await find(ref);
      const stream = { ...ref.person, streamRequestId: callId };
      const run = await turns.readRun(stream);
      const call = run && parseOneCallId(run.agent);
      const isOfPage = call !== undefined && 'agent' in call && call.agent === viewer.agent;
      if (!isOfPage || call.server !== page.server) throw notFound();
      return followCall(stream, ref.signal, seen);
    },
  };

  async function followCall(stream: StreamRef, ending: AbortSignal, seen: number): Promise<ViewCallState> {
    const result = createCallResult();
    const waits = new Map<string, PageWait>();
    const facts = await readReplayFacts({ engine, turns }, stream);
    await withTimeLimit(waitMs, ending, async (over) => {
      try {
        for await (const event of await followTurn({ engine, turns }, stream, { signal: over, facts })) {
          const wait = waitOf(event);
          if (wait !== undefined) waits.set(...wait);
          if (result.take(event) || waits.size > seen) break;
        }
      } catch (error) {
        if (ending.aborted || !over.aborted) throw error;
      }
    });
    return result.outcome ?? { type: 'waiting', waits: [...waits.values()] };
  }
}

function waitOf(event: FollowedEvent): [id: string, wait: PageWait] | undefined {
  if (event.type === 'approval')
    return [event.approval.approvalId, { type: 'approval', data: shownApproval(event.approval) }];
  if (event.type !== 'question') return undefined;
  return [event.elicitation.elicitationId, { type: 'question', data: shownElicitation(event.elicitation) }];
}
