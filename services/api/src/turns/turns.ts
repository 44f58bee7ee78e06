/** The turns of a pod, as surfaces use them. Running a turn is in `agents/loop`, storing it in `shared/src/runs`. */

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

/** The maximum length of a title. A conversation's title comes, for example, from its first message. */
export const TITLE_LENGTH = 80;
/** How much of a message is searched for the title, because messages may be long. */
const TITLE_SEARCH_LENGTH = 4_000;

// How many events are read with a turn. Most single-call runs have no more, and most of their events take a few hundred bytes.
const REPLAY_EVENTS = 100;

const SHOWS_NOTHING: Support = { form: false, url: false };

export interface TurnsDeps extends PodRunsDeps, ReachDeps {
  readonly engine: Engine;
  readonly conversations: Pick<Conversations, 'read' | 'list' | 'rename'>;
  readonly feed: Pick<Feed, 'read'>;
  /** Whether a delegate works on the pod of its delegator, or on any pod. */
  readonly delegates: DelegateDeps['delegates'];
  /** How long this pod holds a turn that waits for its person, in ms. After that, the turn is detached. */
  readonly holdMs: number;
  readonly agents: Agents;
  readonly offering: McpOffering;
  readonly observer: TurnObserver;
}

/** A request for one tool call or one read. It has a conversation of its own, in which no other turn runs. */
interface CallRequest extends Pick<TurnRequest, 'conversation' | 'support' | 'delivery' | 'repeatable'> {
  readonly target: OneCall;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** The turn of a request. */
export interface BegunTurn extends RunRef {
  /** True if an earlier request with the same key began it. It may have ended since. */
  readonly isRepeat: boolean;
}

/** A stored turn as a reader finds it. */
interface ReplayedRun {
  readonly run: Run;
  readonly items: AsyncIterable<JoinedItem>;
}

/** The turns that this pod runs. */
export interface Turns {
  /**
   * Begins a turn, which continues whether or not a reader follows it. A repeated request finds the turn that the first one
   * began, and its conversation. Throws `turn_running` while another turn of the conversation runs, and `idempotency_mismatch`
   * if the key was used for another request. After `unavailable` the turn may have begun; it then continues if the request has
   * a key.
   */
  begin(request: TurnRequest): Promise<BegunTurn>;
  /**
   * Begins an unlisted run that calls one tool of a server and ends with the complete result (`createCallResult`). Otherwise
   * like `begin`. The caller must have checked with `findOffered` that the person may call the tool.
   */
  beginCall(request: CallRequest): Promise<BegunTurn>;
  /**
   * The tools that an MCP client of the caller can call. They depend on what the client shows, because a server may offer some
   * tools only to people who can be asked. Never asks the person. With `support.apps`, includes tools that only pages may call;
   * the client hides these from its model.
   */
  listOffered(caller: Caller, signal: AbortSignal, support?: Support): Promise<readonly OfferedTool[]>;
  /** The target of a name in that list, also for tools that cannot be listed yet. Undefined if the name is not offered. */
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
  /** How servers may ask the person and the client of a single-call run. */
  askableBy(support: Support): Askable;
  /** The viewer who reads and calls, according to what the client shows. */
  viewerOf(support: Support): Viewer;
  /** The agents with which the caller may begin turns. */
  listAgents: Agents['list'];
  /** The agent for a turn that the caller begins, by its id or by default. Throws `invalid_request`. */
  admitToAgent: Agents['admit'];
  /** A conversation for its person. Throws `not_found` and `unavailable`. */
  history(conversation: ConversationRef): Promise<ConversationHistory>;
  /** A person's conversations, the most recent first. Throws `unavailable`. */
  listConversations: Conversations['list'];
  /** As `Conversations.rename`. Throws `unavailable`. */
  renameConversation: Conversations['rename'];
  /** The turn that runs in a conversation, or the last one that ended. Throws `unavailable`. */
  newestTurn(conversation: ConversationRef): Promise<string | undefined>;
  /** A stored turn of a person or of one of the person's delegates; undefined if there is none. Throws `unavailable`. */
  readRun(stream: StreamRef): Promise<Run | undefined>;
  /** A stored turn as in `readRun`, and the contents of its feed, in a single read unless the feed is long. */
  replayRun(stream: StreamRef): Promise<ReplayedRun | undefined>;
  /** The state of a stored turn, which is much cheaper to read than `readRun`. Throws `unavailable`. */
  readStanding: Runs['standing'];
  /** The assistant's messages in a person's turn, as in `readSaid`. Throws `unavailable`. */
  readSaid(run: Run): Promise<readonly Message[]>;
  /** A person's stored turns, as in `Runs.listOf`. Throws `unavailable`. */
  listRuns: Runs['listOf'];
  /** The turn that a reader with all events up to `after` should follow, even if it has ended since. */
  resumable(conversation: ConversationRef, after: FeedPosition | undefined): Promise<StreamRef | undefined>;
  /** True for a detached turn that is waiting. A turn whose wait has ended is resumed. Throws `unavailable`. */
  isWaiting(stream: StreamRef): Promise<boolean>;
  /**
   * True while a turn runs or waits. A turn whose pod died is first offered to all pods. `seen`: the turn's state, if it was
   * just read. Throws `unavailable`.
   */
  isRunning(stream: StreamRef, seen?: RunStanding): Promise<boolean>;
  /** The timeline of the running or last turn; undefined if none is stored. Throws `unavailable`. */
  timeline(conversation: ConversationRef): Promise<Timeline | undefined>;
  /** Stops the running turn on any pod, and withdraws its open questions. Returns false if no turn runs. */
  stop(conversation: ConversationRef): Promise<boolean>;
  /**
   * Checks the owner of a turn while a reader follows it. If the owner's pod dies, another pod continues the turn within
   * seconds, even if no worker runs. The returned function ends the checks.
   */
  attend(stream: StreamRef): () => void;
  /** For the client that reads a turn: records that it was sent an open question or approval. Never rejects. */
  seenNotes(stream: StreamRef): (asked: Elicitation | Approval) => Promise<void>;
  /** Releases all turns of this pod to other pods. Resolves once that is done. */
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

/** The beginning of the person's message, on one line. */
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
