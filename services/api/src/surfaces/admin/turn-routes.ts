/**
 * The routes with which operators read, stop and resume turns. Lists are in `list-routes.ts`, records in `record-routes.ts`.
 */

import { ParleyError } from '@parley/core/domain/errors';
import { bucketOf, formatStreamPath, isReferenceId, type StreamRef } from '@parley/core/domain/ids';
import { type Caller, notFound } from '@parley/shared/domain/caller';
import { DETACHED } from '@parley/shared/domain/runs/run';
import { resumeRun } from '@parley/shared/runs/resume';
import { stopTurn } from '@parley/shared/runs/stop';
import { z } from 'zod';
import { json, jsonBody, type Route } from '../../http/route.ts';
import { serviceOwner } from '../../turns/principal.ts';
import { readTurnTimeline, Timeline } from '../../turns/timeline.ts';
import { adminRoute } from './admin-route.ts';
import type { AdminDeps } from './deps.ts';
import { SAMPLE_ADMIN_TURN } from './examples.ts';
import { factsOfTurn } from './facts.ts';
import { seeTurns } from './load.ts';
import { OwnerQuery } from './query.ts';
import { Redelivered, RedeliverOfTurnInput, redeliver } from './redeliver.ts';
import { REASONS_DOCS, REASONS_EXAMPLE, reasonsReply } from './views/reasons.ts';
import { AdminTurn, type SeenTurn, turnView } from './views/turn-view.ts';

const PATH = '/v1/admin/turns/:streamRequestId';
const QUERY = '?userId=alice';

const Changed = z.object({
  changed: z.boolean().describe('False where there was nothing to do.'),
  turn: AdminTurn,
});

/** The routes with which an operator reads one turn and acts on it. */
export function turnRoutes(deps: AdminDeps): Route[] {
  return [
    readRoute(deps),
    timelineRoute(deps),
    whyRoute(deps),
    stopRoute(deps),
    resumeRoute(deps),
    redeliverRoute(deps),
  ];
}

/** The turn that a call names. Throws `not_found`. */
function streamOf({ tenant }: Caller, { userId, key = '' }: OwnerQuery, streamRequestId = ''): StreamRef {
  if (!isReferenceId(streamRequestId)) throw notFound();
  return userId === undefined
    ? { ...serviceOwner(tenant, key), streamRequestId }
    : { tenant, userId, streamRequestId };
}

async function see(deps: AdminDeps, stream: StreamRef): Promise<SeenTurn> {
  const [seen] = await seeTurns(deps, await deps.runs.heads([stream]));
  if (seen === undefined) throw notFound();
  return seen;
}

function readRoute(deps: AdminDeps): Route {
  return adminRoute({
    method: 'GET',
    path: PATH,
    query: OwnerQuery,
    docs: {
      summary: 'Read how a turn of any user stands',
      example: { query: QUERY, reply: SAMPLE_ADMIN_TURN },
      replies: { 200: { description: 'As it stands', schema: AdminTurn } },
      errors: ['not_found'],
    },
    async handle({ caller, params, query }) {
      return json(200, turnView(await see(deps, streamOf(caller, query, params.streamRequestId))));
    },
  });
}

function timelineRoute(deps: AdminDeps): Route {
  return adminRoute({
    method: 'GET',
    path: `${PATH}/timeline`,
    query: OwnerQuery,
    docs: {
      summary: 'Read the timeline of a turn of any user',
      description: 'Steps, tool calls, waits and owners, of the turn and of its delegates. Contains no text.',
      example: { query: QUERY, reply: { conversationId: 'trip-7', runs: [] } },
      replies: { 200: { description: 'The timeline', schema: Timeline } },
      errors: ['not_found'],
    },
    async handle({ caller, params, query }) {
      const timeline = await readTurnTimeline(deps, streamOf(caller, query, params.streamRequestId));
      if (timeline === undefined) throw notFound();
      return json(200, timeline);
    },
  });
}

function whyRoute(deps: AdminDeps): Route {
  return adminRoute({
    method: 'GET',
    path: `${PATH}/why`,
    query: OwnerQuery,
    docs: {
      ...REASONS_DOCS,
      summary: 'Read why a turn waits, or how it ended',
      example: { query: QUERY, reply: REASONS_EXAMPLE },
    },
    async handle({ caller, params, query, header }) {
      const facts = await factsOfTurn(deps, streamOf(caller, query, params.streamRequestId));
      if (facts === undefined) throw notFound();
      return reasonsReply(facts, header);
    },
  });
}

function stopRoute(deps: AdminDeps): Route {
  return adminRoute({
    method: 'POST',
    path: `${PATH}/stop`,
    query: OwnerQuery,
    docs: {
      summary: 'Stop a turn of any user, with its delegates',
      description:
        'On whichever pod it is, or on none. Its open questions are withdrawn. A run of a delegate is stopped with the turn that it works for.',
      example: { query: QUERY, reply: { changed: true, turn: { ...SAMPLE_ADMIN_TURN, stopping: true } } },
      replies: { 200: { description: 'It stops, or did not run', schema: Changed } },
      errors: ['not_found'],
    },
    async handle({ caller, params, query }) {
      const stream = streamOf(caller, query, params.streamRequestId);
      const { head } = await see(deps, stream);
      if (head.parent !== undefined) throw ofDelegate(head.parent.streamRequestId);
      // The act is recorded at once: Redis may become unavailable while the questions of the turn are withdrawn.
      const changed = await stopTurn(deps, head, () => noteAct(deps, caller, stream, { act: 'stop' }));
      return json(200, { changed, turn: turnView(await see(deps, stream)) });
    },
  });
}

function ofDelegate(parent: string): ParleyError {
  return new ParleyError(
    'invalid_request',
    `This is the run of a delegate; stop the turn ${parent} instead.`,
  );
}

function resumeRoute(deps: AdminDeps): Route {
  return adminRoute({
    method: 'POST',
    path: `${PATH}/resume`,
    query: OwnerQuery,
    docs: {
      summary: 'Offer a turn that no pod holds to all pods',
      description:
        'A detached turn looks at what it waits for and is detached again where all of it is open. Nothing happens to a turn that a pod holds.',
      example: {
        query: QUERY,
        reply: { changed: true, turn: { ...SAMPLE_ADMIN_TURN, state: 'queued', term: 3 } },
      },
      replies: { 200: { description: 'Offered, or there was nothing to do', schema: Changed } },
      errors: ['not_found'],
    },
    async handle({ caller, params, query }) {
      const stream = streamOf(caller, query, params.streamRequestId);
      const changed = await resume(deps, stream, await see(deps, stream));
      if (changed) noteAct(deps, caller, stream, { act: 'resume' });
      return json(200, { changed, turn: turnView(await see(deps, stream)) });
    },
  });
}

async function resume(deps: AdminDeps, stream: StreamRef, { head, state }: SeenTurn): Promise<boolean> {
  if (state !== 'detached' && state !== 'queued' && state !== 'orphaned') return false;
  if (head.owner === DETACHED) await resumeRun(deps, stream, head.term);
  else await deps.runQueue.offer(stream, head.term);
  return true;
}

function redeliverRoute(deps: AdminDeps): Route {
  return adminRoute({
    method: 'POST',
    path: `${PATH}/redeliver`,
    query: OwnerQuery,
    body: jsonBody(RedeliverOfTurnInput),
    docs: {
      summary: 'Bring the messages of a turn in a channel up to date',
      example: { query: QUERY, body: { by: 'slack' }, reply: { outstanding: true } },
      replies: { 200: { description: 'On its way', schema: Redelivered } },
      errors: ['not_found'],
    },
    async handle({ caller, params, query, body: { by, deliveryId } }) {
      const stream = streamOf(caller, query, params.streamRequestId);
      await see(deps, stream);
      const subject = formatStreamPath(stream);
      const only = deliveryId === undefined ? undefined : subjectOf(stream, deliveryId);
      await redeliver(deps, by, { tenant: caller.tenant, subject, bucket: bucketOf(stream), only });
      noteAct(deps, caller, stream, { act: 'redeliver', reason: by });
      return json(200, { outstanding: true });
    },
  });
}

/** The subject of a turn's delivery. `deliveryId` is the part after the person. Throws `not_found` if it names another turn. */
function subjectOf(stream: StreamRef, deliveryId: string): string {
  const turn = formatStreamPath(stream);
  const subject = `${turn.split('/', 2).join('/')}/${deliveryId}`;
  if (subject !== turn && !subject.startsWith(`${turn}/`)) throw notFound();
  return subject;
}

interface Act {
  readonly act: 'stop' | 'resume' | 'redeliver';
  readonly reason?: string;
}

function noteAct({ onAct }: AdminDeps, caller: Caller, { streamRequestId }: StreamRef, act: Act): void {
  onAct({ ...act, subject: streamRequestId }, caller);
}
