import { randomUUID } from 'node:crypto';
import type { Approval } from '@parley/core/domain/approvals/approval';
import type { Elicitation } from '@parley/core/domain/elicitations/elicitation';
import type { FeedPosition } from '@parley/core/domain/events';
import {
  keyedStreamRequestId,
  messageIdOf,
  mintStreamRequestId,
  type StreamRef,
} from '@parley/core/domain/ids';
import type { Caller } from '@parley/shared/domain/caller';
import { contentParts, isLeftOut } from '@parley/shared/domain/runs/content';
import type {
  ConversationRef,
  Message,
  Run,
  RunRef,
  RunStanding,
  Support,
} from '@parley/shared/domain/runs/run';
import type { Engine } from '@parley/shared/elicitations/engine';
import type { JoinedItem } from '@parley/shared/elicitations/joined-feed';
import type { Feed } from '@parley/shared/ports/elicitations/feed';
import type { Conversations } from '@parley/shared/ports/runs/conversations';
import type { NewRun, Runs } from '@parley/shared/ports/runs/runs';
import { createPodRuns, type PodRunsDeps } from '@parley/shared/runs/pod-runs';
import { createDelegate, type DelegateDeps } from '../agents/delegation/delegate.ts';
import { workOnRemoteDelegate } from '../agents/delegation/remote-delegate.ts';
import type { Agents } from '../agents/loop/agents.ts';
import { fromFirstUser } from '../agents/loop/history.ts';
import { admitImages } from '../agents/loop/images.ts';
import { type TurnRequest, workOnBegun, workOnClaimed } from '../agents/loop/turn-work.ts';
import { type Viewer, viewerOf } from '../agents/mcp/visibility.ts';
import type { TurnObserver } from '../agents/run/observer.ts';
import { callMessage, type OneCall, oneCallId } from '../agents/run/one-call.ts';
import { createReach, createSeenNotes, type ReachDeps } from '../agents/run/reach.ts';
import type { ServerContent } from '../agents/tools/mcp-content.ts';
import type { McpOffering, OfferedTarget, OfferedTool } from '../agents/tools/mcp-offer.ts';
import type { AgentPages } from '../agents/tools/passthrough/agent-pages.ts';
import type { Askable } from '../agents/tools/passthrough/person.ts';
import { type ConversationHistory, readHistory, readSaid } from './history.ts';
import { principalOf } from './principal.ts';
import { findResumable } from './resumable.ts';
import { readTimeline, type Timeline } from './timeline.ts';

/** Characters of a title, such as of the first message, which names a conversation. */
export const TITLE_LENGTH = 80;
/** Characters of it that are searched for the title: a message may be long. */
const TITLE_SEARCH_LENGTH = 4_000;

// Most calls have no more events, and a few hundred bytes are the most of them.
const REPLAY_EVENTS = 100;

const SHOWS_NOTHING: Support = { form: false, url: false };

export interface TurnsDeps extends PodRunsDeps, ReachDeps {
  readonly engine: Engine;
  readonly conversations: Pick<Conversations, 'read' | 'list' | 'rename'>;
  readonly feed: Pick<Feed, 'read'>;
  /** Whether a delegate works on the pod of the run that delegated, or on any pod. */
  readonly delegates: DelegateDeps['delegates'];
  /** How long this pod keeps a turn that waits for its person, in ms. Then the turn is detached. */
  readonly holdMs: number;
  readonly agents: Agents;
  readonly offering: McpOffering;
  readonly observer: TurnObserver;
}

/** A request for one call of a tool, or for one read. Its conversation is of its own: no other turn runs in it. */
interface CallRequest extends Pick<TurnRequest, 'conversation' | 'support' | 'delivery' | 'repeatable'> {
  readonly target: OneCall;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** The turn of a request. */
export interface BegunTurn extends RunRef {
  /** True when an earlier request with the same key began it. It may have ended since. */
  readonly isRepeat: boolean;
}

/** A stored turn as one reader finds it. */
interface ReplayedRun {
  readonly run: Run;
  readonly items: AsyncIterable<JoinedItem>;
}

/** The turns that this pod runs. */
export interface Turns {
  /**
   * Begins a turn, which continues whether or not a reader follows it. A repeated request finds the turn that the first
   * one began, with its conversation. Throws `turn_running` while another turn of the conversation runs,
   * `idempotency_mismatch` where the key was used for another request, and `unavailable`: then the turn may have begun,
   * and continues if the request has a key.
   */
  begin(request: TurnRequest): Promise<BegunTurn>;
  /**
   * Begins an unlisted run that calls one tool of a server and ends with its whole result (`createCallResult`); as `begin`. The
   * caller has checked with `findOffered` that the person may call the tool.
   */
  beginCall(request: CallRequest): Promise<BegunTurn>;
  /**
   * What an MCP client of the caller can call, by what it shows: a server may have tools for those alone who can be asked.
   * Never asks the person. `support.apps`: also what only pages may call, which that client keeps from its model.
   */
  listOffered(caller: Caller, signal: AbortSignal, support?: Support): Promise<readonly OfferedTool[]>;
  /** What a name in that list stands for, also for tools that cannot be listed yet; undefined when it is not offered. */
  findOffered(
    caller: Caller,
    name: string,
    signal: AbortSignal,
    support?: Support,
  ): Promise<OfferedTarget | undefined>;
  /** The prompts and resources of servers that an MCP client of the caller can read. */
  readonly content: ServerContent;
  /** The pages of servers in the chats of agents. */
  readonly pages: AgentPages;
  /** What servers are told that the person of a run of one call, and their client, can be asked. */
  askableBy(support: Support): Askable;
  /** Who reads and calls, by what the client shows. */
  viewerOf(support: Support): Viewer;
  /** The agents with which the caller may begin turns. */
  listAgents: Agents['list'];
  /** The agent of a turn that the caller begins, by its id or the default. Throws `invalid_request`. */
  admitToAgent: Agents['admit'];
  /** A conversation as its person sees it. Throws `not_found` and `unavailable`. */
  history(conversation: ConversationRef): Promise<ConversationHistory>;
  /** The conversations of a person, the one with the latest turn first. Throws `unavailable`. */
  listConversations: Conversations['list'];
  /** As `Conversations.rename`. Throws `unavailable`. */
  renameConversation: Conversations['rename'];
  /** The turn that runs in a conversation, or that ended last there. Throws `unavailable`. */
  newestTurn(conversation: ConversationRef): Promise<string | undefined>;
  /** A stored turn of a person, or of one of their delegates; undefined when there is none. Throws `unavailable`. */
  readRun(stream: StreamRef): Promise<Run | undefined>;
  /** A stored turn, as `readRun`, and what its feed holds: a single read, unless the feed is long. */
  replayRun(stream: StreamRef): Promise<ReplayedRun | undefined>;
  /** The state of a stored turn, at a fraction of the cost of `readRun`. Throws `unavailable`. */
  readStanding: Runs['standing'];
  /** What the assistant has said in a turn of a person, as `readSaid`. Throws `unavailable`. */
  readSaid(run: Run): Promise<readonly Message[]>;
  /** The stored turns of a person, as `Runs.listOf`. Throws `unavailable`. */
  listRuns: Runs['listOf'];
  /** The turn that a reader with all events up to `after` should follow, also one that has ended since. */
  resumable(conversation: ConversationRef, after: FeedPosition | undefined): Promise<StreamRef | undefined>;
  /** True for a detached turn that waits; one whose wait has ended is resumed. Throws `unavailable`. */
  isWaiting(stream: StreamRef): Promise<boolean>;
  /**
   * True while a turn runs or waits; one whose pod died is offered to all pods first. `seen`: as it was read a moment ago.
   * Throws `unavailable`.
   */
  isRunning(stream: StreamRef, seen?: RunStanding): Promise<boolean>;
  /** The timeline of the turn that runs or ended last; undefined where none is kept. Throws `unavailable`. */
  timeline(conversation: ConversationRef): Promise<Timeline | undefined>;
  /** Stops the running turn, on whichever pod; its open questions are withdrawn. False when none runs. */
  stop(conversation: ConversationRef): Promise<boolean>;
  /**
   * Checks the owner of a turn while a reader follows it: should its pod die, another one continues it within seconds,
   * also where no worker runs. The returned function ends the checks.
   */
  attend(stream: StreamRef): () => void;
  /** For one reader of a turn, its client: notes that it was sent an open question or approval. Never rejects. */
  seenNotes(stream: StreamRef): (asked: Elicitation | Approval) => Promise<void>;
  /** Hands all turns of this pod over to other pods. Resolves once that is done. */
  close(): Promise<void>;
}

/** Creates the turns of one pod. */
export function createTurns(deps: TurnsDeps): Turns {
  const { observer } = deps;
  const podRuns = createPodRuns({ ...deps, knowsAgent: deps.agents.isKnown });
  const { owner, reserve, watch, endBegun } = podRuns;
  const delegateTo = createDelegate({ ...deps, owner, reserve, watch, endBegun });
  const work = { ...deps, delegateTo };
  podRuns.claim((owned, record, stopping) =>
    observer.within(record.traceparent, () =>
      record.delegateRequest === undefined
        ? workOnClaimed(work, owned, record, stopping)
        : workOnRemoteDelegate(work, owned, record, stopping),
    ),
  );

  async function begin(asked: TurnRequest): Promise<BegunTurn> {
    const agent = deps.agents.find(asked.agent);
    const request = { ...asked, ...admitImages(asked, agent.images) };
    const run: RunRef = { ...request.conversation, streamRequestId: await streamRequestIdOf(request) };
    const result = await observer.beginning(agent.id, (traceparent) =>
      podRuns.begin({ ...newRun(run, agent.id, request), traceparent }, (owned, stopping) =>
        observer.within(traceparent, () => workOnBegun(work, request, owned, stopping)),
      ),
    );
    return result.type === 'known'
      ? { ...run, conversationId: result.conversationId, isRepeat: true }
      : { ...run, isRepeat: false };
  }

  const askableBy = (support: Support): Askable => ({
    reach: createReach(deps, support),
    client: support.services && { services: support.services },
  });
  const offeredTo = (caller: Caller, support: Support = SHOWS_NOTHING) => ({
    ...principalOf(caller),
    ...askableBy(support),
    viewer: viewerOf(support),
  });

  return {
    begin,
    beginCall: ({ target, arguments: input, ...request }) =>
      begin({
        ...request,
        agent: oneCallId(target),
        input: [callMessage(target, input)],
        before: [],
        unlisted: true,
      }),
    listOffered: (caller, signal, support) => deps.offering.list(caller, offeredTo(caller, support), signal),
    findOffered: (caller, name, signal, support) =>
      deps.offering.find(caller, offeredTo(caller, support), name, signal),
    content: deps.offering.content,
    pages: deps.offering.pages,
    askableBy,
    viewerOf,
    listAgents: deps.agents.list,
    admitToAgent: deps.agents.admit,
    history: (conversation) => readHistory(deps, conversation),
    listConversations: deps.conversations.list,
    renameConversation: deps.conversations.rename,
    async newestTurn(conversation) {
      const { running, last } = await deps.conversations.read(conversation);
      return running ?? last?.streamRequestId;
    },
    readRun: async (stream) => (await deps.runs.read(stream)).run,
    async replayRun(stream) {
      const { run, feed } = await deps.runs.readWithFeed(stream, REPLAY_EVENTS);
      return run && { run, items: deps.engine.replayItems(stream, feed) };
    },
    readStanding: (stream) => deps.runs.standing(stream),
    readSaid: (run) => readSaid(deps, run),
    listRuns: (person, limit) => deps.runs.listOf(person, limit),
    resumable: (conversation, after) =>
      findResumable({ ...deps, isRunning: podRuns.isRunning }, conversation, after),
    isWaiting: podRuns.isWaiting,
    isRunning: podRuns.isRunning,
    timeline: (conversation) => readTimeline(deps, conversation),
    stop: podRuns.stop,
    attend: watch,
    seenNotes: (stream) => createSeenNotes(deps, stream),
    close: podRuns.close,
  };
}

function streamRequestIdOf({ conversation, repeatable }: TurnRequest): Promise<string> | string {
  return repeatable === undefined
    ? mintStreamRequestId()
    : keyedStreamRequestId(conversation, repeatable.key);
}

function newRun(run: RunRef, agent: string, request: TurnRequest): Omit<NewRun, 'owner'> {
  const { input, before, support, delivery = 'hold', unlisted, repeatable, sent } = request;
  const { streamRequestId, conversationId } = run;
  const messageId = messageIdOf(streamRequestId);
  const title = titleOf(input);
  return {
    ...run,
    agent,
    support,
    delivery,
    ...(unlisted !== undefined && { unlisted }),
    ...(title !== '' && { title }),
    input,
    before: fromFirstUser(before),
    ...(repeatable !== undefined && { request: { digest: repeatable.digest, nonce: randomUUID() } }),
    event: { type: 'turn-started', conversationId, messageId, agent, ...(sent !== undefined && { sent }) },
  };
}

/** The beginning of the person's message on one line. */
function titleOf(input: readonly Message[]): string {
  const line = input
    .flatMap(({ content }) => contentParts(content))
    .map((part) => (part.type === 'text' && !isLeftOut(part) ? part.text : ''))
    .join(' ')
    .slice(0, TITLE_SEARCH_LENGTH)
    .replace(/\s+/gu, ' ')
    .trim();
  const characters = [...line.slice(0, 2 * TITLE_LENGTH)];
  return characters.length <= TITLE_LENGTH ? line : `${characters.slice(0, TITLE_LENGTH - 1).join('')}…`;
}
