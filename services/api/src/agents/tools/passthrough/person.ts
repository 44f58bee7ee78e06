import { createHash } from 'node:crypto';
import type { Owner } from '@parley/shared/domain/ids';
import { isAsked } from '@parley/shared/domain/reach';
import type { ReachOfQuestion } from '../../loop/reach.ts';
import type { Viewer } from '../../mcp/calls/visibility.ts';
import type { AskedPerson } from '../../mcp/target.ts';
import type { Server } from '../servers.ts';
import type { RoundSeals } from './rounds.ts';
import type { SendRules } from './send-call.ts';

/** The person of a turn, and how questions get to them. */
export interface TurnPerson extends Owner {
  readonly reach: ReachOfQuestion;
  /** Who makes the call of a run of one call. An agent's calls are a model's in any case. @default 'model' */
  readonly viewer?: Viewer;
}

/** The limits of an agent, or of the tools that MCP clients are offered. */
export interface ServerCallLimits {
  readonly toolTimeoutSeconds: number;
  readonly questionTimeoutSeconds: number;
  readonly questionsPerCall: number;
}

/** What a server is told that this person can be asked; undefined: nothing. */
export function askedPerson(
  { mayAsk }: Pick<Server, 'mayAsk'>,
  { tenant, userId, reach }: TurnPerson,
): AskedPerson | undefined {
  const form = isAsked(reach({ mode: 'form' }));
  const url = isAsked(reach({ mode: 'url' }));
  if (!mayAsk || (!form && !url)) return undefined;
  const person = createHash('sha256')
    .update(JSON.stringify([tenant, userId]))
    .digest('base64url');
  return { person, modes: { form, url } };
}

/** The rules for a person's calls of one server's tools. Without a viewer, a model makes them. */
export function sendRules(
  serverId: string,
  { tenant, userId, viewer = 'model' }: Owner & Pick<TurnPerson, 'viewer'>,
  { toolTimeoutSeconds, questionTimeoutSeconds, questionsPerCall }: ServerCallLimits,
  seals: RoundSeals | undefined,
): SendRules {
  const of = { tenant, userId, serverId };
  return {
    viewer,
    timeoutMs: toolTimeoutSeconds * 1000,
    questionTimeoutSeconds,
    questionsMax: questionsPerCall,
    rounds: seals && {
      serverId,
      seal: (callKey, round) => seals.seal({ ...of, callKey }, round),
      unseal: (callKey, sealed) => seals.unseal({ ...of, callKey }, sealed),
    },
  };
}
