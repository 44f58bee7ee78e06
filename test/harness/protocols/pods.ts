/** Two pods in this process, on one Redis, that serve the same surfaces. A request goes to any of them. */

import type { Owner } from '@parley/core/domain/ids';
import type { Dispatch } from '@parley/shared/delivery/dispatch';
import type { Row } from '@parley/shared/domain/elicitations/row';
import type { Engine } from '@parley/shared/elicitations/engine';
import type { Backend } from '@parley/shared/ports/backend';
import type { RedisLocation } from '@parley/shared/ports/redis-location';
import type { AgentQuestion } from '../../../services/api/src/agents/run/question.ts';
import type { Tool } from '../../../services/api/src/agents/run/tool.ts';
import type { Authenticate } from '../../../services/api/src/http/auth.ts';
import type { CallLimitSettings, CallLimits } from '../../../services/api/src/http/limits/call-limits.ts';
import type { Surface } from '../../../services/api/src/http/route.ts';
import type { Turns } from '../../../services/api/src/turns/turns.ts';
import type { ScriptedReply, Turn } from '../../../stand-ins/scripted-model/script.ts';
import { startScriptedModel } from '../../../stand-ins/scripted-model/scripted-model.ts';
import { dispatchOn } from '../engines/engines.ts';
import { newOwner, serviceOf } from '../engines/questions.ts';
import { openRedisPods } from '../engines/redis-pods.ts';
import { ROOMY } from '../engines/settings.ts';
import { callLimitsOn } from '../http/call-limits.ts';
import { paced } from '../pace.ts';
import { startRedis } from '../redis/redis-server.ts';
import { podOn, type TestPod } from '../turns/setup.ts';
import { waitUntil } from '../wait-until.ts';
import { type Served, serveSurfaces } from './served.ts';

export const PAGE_URL = 'https://connect.example/page';
const DISPATCH_MS = 100;

export interface RunningPod {
  readonly engine: Engine;
  readonly turns: Turns;
  readonly backend: Backend;
}

export interface ServedPod extends RunningPod, Omit<Served, 'stop'> {}

export interface ServedPods {
  readonly pods: readonly [ServedPod, ServedPod];
  stop(): Promise<void>;
}

export interface ServedPodsOptions {
  /** What the model says at each step. */
  readonly line: (turn: Turn) => ScriptedReply;
  readonly pod: TestPod;
  readonly surfaceOf: (pod: RunningPod, limits: CallLimits) => Surface;
  readonly heartbeatMs?: number;
  /** For a surface whose callers the deployment proves. */
  readonly authenticate?: Authenticate;
  readonly dispatchOf?: (backend: Backend) => Dispatch;
  readonly budgets?: Partial<CallLimitSettings>;
  /** The Redis of the pods; one of its own without it. */
  readonly location?: RedisLocation | undefined;
}

export async function openServedPods(options: ServedPodsOptions): Promise<ServedPods> {
  const { line, location, dispatchOf = dispatchOn } = options;
  const [redis, model] = await Promise.all([
    location === undefined ? startRedis() : undefined,
    startScriptedModel({ script: [line], delayMs: 1 }),
  ]);
  const stores = await openRedisPods(location ?? { kind: 'single', url: redis?.url ?? '' }, ROOMY);
  const open = async (backend: Backend, name: string) => {
    const { engine, turns } = podOn(backend, model, { hasAnswerPage: true, pod: name, ...options.pod });
    const timer = dispatchOften(dispatchOf(backend));
    const served = await serveOn({ backend, engine, turns }, options);
    return { backend, engine, turns, timer, ...served };
  };
  const pods = await Promise.all([open(stores.backend, 'pod-0'), open(stores.second, 'pod-1')]);
  return {
    pods,
    async stop() {
      for (const { timer, stop } of pods) {
        clearInterval(timer);
        stop();
      }
      await Promise.all(pods.map(({ turns }) => turns.close()));
      await stores.close();
      await model.stop();
      await redis?.stop();
    },
  };
}

/** Serves the surface of one pod. */
export function serveOn(
  pod: RunningPod,
  {
    surfaceOf,
    budgets,
    heartbeatMs,
    authenticate,
  }: Pick<ServedPodsOptions, 'surfaceOf' | 'budgets' | 'heartbeatMs' | 'authenticate'>,
): Promise<Served> {
  const limits = callLimitsOn(pod.backend.limits, budgets);
  return serveSurfaces(() => [surfaceOf(pod, limits)], {
    limits,
    heartbeatMs,
    ...(authenticate !== undefined && { authenticate }),
  });
}

export function dispatchOften(dispatch: Dispatch): NodeJS.Timeout {
  return setInterval(() => void dispatch.round().catch(() => undefined), DISPATCH_MS);
}

/** A tool that asks, and returns the answer, or how the question ended. */
export const asking = (name: string, question: AgentQuestion): Tool => ({
  name,
  description: 'Asks.',
  inputSchema: { type: 'object' },
  async call(call) {
    const outcome = await call.ask(0, question);
    return { type: 'returned', output: outcome.content ?? outcome.status };
  },
});

/** A tool that asks with a page of Parley. */
export const pageTool = asking('page', {
  mode: 'url',
  message: 'Open it.',
  url: PAGE_URL,
  completion: 'server',
  timeoutSeconds: 600,
});

/** A tool whose question is open for some seconds, in which also a busy machine shows it. */
export const shortTool = asking('short', {
  mode: 'form',
  message: 'Quick?',
  requestedSchema: { type: 'object', properties: { answer: { type: 'string' } } },
  timeoutSeconds: Math.ceil(paced(3_000) / 1_000),
});

export interface Person extends Owner {
  readonly token: string;
}

export function newPerson(): Person {
  const { tenant, userId } = newOwner();
  return { tenant, userId, token: `${tenant}/${userId}` };
}

type Open = 'pending' | 'opened';
const BOTH: readonly Open[] = ['pending', 'opened'];

/** The questions of a person that are open. */
export async function listOpenOf(
  engine: Pick<Engine, 'list'>,
  { tenant, userId }: Owner,
  statuses: readonly Open[] = BOTH,
): Promise<readonly Row[]> {
  return (await engine.list({ owner: { tenant, userId }, statuses, limit: 50 })).rows;
}

/** A question that a person has open, once it is there. */
export function openQuestion(engine: Pick<Engine, 'list'>, owner: Owner, ...statuses: Open[]): Promise<Row> {
  const find = async () => (await listOpenOf(engine, owner, statuses.length === 0 ? BOTH : statuses))[0];
  return waitUntil(find, { what: 'the question' });
}

/** Finishes a page of Parley, as the connect page does. */
export async function finishPage(engine: Pick<Engine, 'complete'>, owner: Owner, id: string): Promise<void> {
  await engine.complete({ caller: serviceOf(owner), id, surface: 'page' });
}
