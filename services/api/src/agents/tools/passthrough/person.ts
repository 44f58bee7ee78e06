/** Describes to a server how the person of a turn and their client can be asked. The asking is in `server-questions.ts`. */

import type { Owner } from '@parley/core/domain/ids';
import { isAsked, PAGE_OF_ASKER } from '@parley/shared/domain/reach';
import type { ClientServices } from '@parley/shared/domain/runs/client-request';
import type { ClientRequests } from '@parley/shared/elicitations/asking/client-requests';
import { sha256 } from '@parley/shared/records/digest';
import type { Agent as AgentConfig } from '../../config/file.ts';
import type { AskedPerson } from '../../mcp/target.ts';
import type { Viewer } from '../../mcp/visibility.ts';
import type { ReachOfQuestion } from '../../run/reach.ts';
import type { Server } from '../servers.ts';
import { createAskClient, type TurnClient } from './client-asks.ts';
import type { RoundSeals } from './rounds.ts';
import type { SendRules } from './send-rules.ts';
import type { SampleLimits } from './server-questions.ts';

/** The person of a turn, and how questions reach them. */
export interface TurnPerson extends Owner {
  readonly reach: ReachOfQuestion;
  /** Who makes the call of a single-call run. An agent's calls are always a model's. @default 'model' */
  readonly viewer?: Viewer | undefined;
  /** Present if the person's client shows the pages of servers in the chat of an agent. */
  readonly showsPages?: true | undefined;
  /** The person's client, if it provides services to servers itself. */
  readonly client?: TurnClient | undefined;
}

/** The limits of an agent, or of the tools offered to MCP clients. */
export interface ServerCallLimits {
  readonly toolTimeoutSeconds: number;
  readonly questionTimeoutSeconds: number;
  readonly questionsPerCall: number;
}

/** A person, and the capabilities of their client. */
export interface AskablePerson extends Pick<TurnPerson, 'tenant' | 'userId' | 'reach'> {
  readonly client?: Pick<TurnClient, 'services'> | undefined;
}

/** How the person can be asked. */
export type Askable = Pick<AskablePerson, 'reach' | 'client'>;

/** The elicitation modes and services that Parley declares to the server for this person and their client. Undefined: none. */
export function askedPerson(
  { mayAsk, maySample = false }: Pick<Server, 'mayAsk' | 'maySample'>,
  { tenant, userId, reach, client }: AskablePerson,
  agent?: SamplingAgent,
): AskedPerson | undefined {
  const form = isAsked(reach({ mode: 'form' }));
  const url = isAsked(reach(PAGE_OF_ASKER));
  const isSampledHere = maySample && agent !== undefined && (form || url);
  const services = isSampledHere ? withSampling(client?.services) : client?.services;
  if (!mayAsk || (!form && !url && services === undefined)) return undefined;
  const person = sha256(JSON.stringify([tenant, userId]));
  return { person, modes: { form, url, ...(services !== undefined && { services }) } };
}

/** An agent whose own model may write texts for servers. */
interface SamplingAgent {
  readonly limits: Pick<AgentConfig['limits'], 'samplesPerCall' | 'sampleTokens'>;
}

/** The services of the turn's client, and sampling by the agent's own model. */
function withSampling(services: ClientServices = {}): ClientServices {
  return { sampling: { tools: false }, ...services };
}

/** The limits of the agent's own model. Undefined if it writes no texts for the server. */
function samplesOf(
  { maySample = false }: Pick<Server, 'maySample'>,
  client: TurnClient | undefined,
  agent: SamplingAgent | undefined,
): SampleLimits | undefined {
  // If the client has a model of its own, the client is asked instead.
  if (!maySample || agent === undefined || client?.services.sampling !== undefined) return undefined;
  const { samplesPerCall: perCall, sampleTokens: tokensMax } = agent.limits;
  return { perCall, tokensMax };
}

/** The dependencies of calls of servers' tools, in addition to their limits. */
export interface SendDeps {
  /** Seals the questions of rounds. Absent: only the pod that made a call can continue it. */
  readonly rounds?: RoundSeals | undefined;
  readonly clientRequests: ClientRequests;
}

/** The person for whom a server is called, and the agent that makes the call. */
interface ServedPerson extends Omit<TurnPerson, 'reach'> {
  readonly agent?: SamplingAgent;
}

/** The rules for a person's calls of one server's tools. Without a viewer, a model makes them. */
export function sendRules(
  server: Pick<Server, 'config' | 'maySample' | 'taskSeconds'>,
  { tenant, userId, client, viewer = 'model', agent }: ServedPerson,
  { toolTimeoutSeconds, questionTimeoutSeconds, questionsPerCall }: ServerCallLimits,
  { rounds: seals, clientRequests }: SendDeps,
): SendRules {
  const { id: serverId } = server.config;
  const of = { tenant, userId, serverId };
  return {
    viewer,
    timeoutMs: toolTimeoutSeconds * 1000,
    taskMs: server.taskSeconds * 1000,
    questionTimeoutSeconds,
    questionsMax: questionsPerCall,
    samples: samplesOf(server, client, agent),
    ...(client !== undefined && { askClient: createAskClient(clientRequests, client) }),
    rounds: seals && {
      serverId,
      seal: (callKey, progress) => seals.seal({ ...of, callKey }, progress),
      unseal: (callKey, sealed) => seals.unseal({ ...of, callKey }, sealed),
    },
  };
}
