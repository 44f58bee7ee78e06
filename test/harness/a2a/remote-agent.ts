/** A remote agent: the stock server of `@a2a-js/sdk`, whose executor does what the words of a task say. */
import { randomUUID } from 'node:crypto';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { AgentCard, type TaskPushNotificationConfig, TaskState, type TaskStatus } from '@a2a-js/sdk';
import {
  DefaultPushNotificationSender,
  DefaultRequestHandler,
  InMemoryPushNotificationStore,
  InMemoryTaskStore,
  ServerCallContext,
} from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import { ELICITATION_EXTENSION } from '@parley/shared/domain/a2a/extension';
import express from 'express';
import { listenOnFreePort } from '../free-port.ts';
import { createScriptedExecutor, type ScriptedExecutor } from './scripted-executor.ts';

export type RemoteBinding = 'JSONRPC' | 'HTTP+JSON' | 'JSONRPC 0.3' | 'HTTP+JSON 0.3';

export interface RemoteAgentOptions {
  readonly binding?: RemoteBinding;
  readonly streaming?: boolean;
  /** The card offers pushes. `refused`: registrations are refused all the same. */
  readonly push?: true | 'refused';
  /** The card declares Parley's extension. */
  readonly speaksElicitation?: boolean;
  /** Every call, that of the card included, needs this value of `Authorization`, or one that passes the check. */
  readonly authorization?: string | ((value: string | undefined) => boolean);
  /** Text that each stream sends as an event after its first. */
  readonly malformed?: string;
  /** Default none. */
  readonly skills?: readonly RemoteSkill[];
  /** Changes the card before it is served. */
  readonly card?: (card: AgentCard) => Promise<AgentCard> | AgentCard;
}

/** A skill of the card. */
export interface RemoteSkill {
  readonly id: string;
  readonly name?: string;
  readonly description?: string;
  readonly examples?: readonly string[];
}

export interface RemoteAgent extends Pick<ScriptedExecutor, 'messages' | 'begun' | 'cancelled' | 'release'> {
  readonly url: string;
  /** Methods and paths of the requests, in order. */
  readonly requests: readonly string[];
  /** Reports that a task works, although it asked something. */
  work(taskId: string): Promise<void>;
  /** Asks again what a task asked: in the same message with a new timestamp, or in a new message. */
  repeat(taskId: string, message?: 'new'): Promise<void>;
  /** Changes the skills of the card. */
  offer(skills: readonly RemoteSkill[]): void;
  /** Where a task is pushed. */
  pushTargets(taskId: string): Promise<readonly TaskPushNotificationConfig[]>;
  /** While true, requests are not answered and their connections end. `missing`: they get 404. */
  cut(isCut: boolean | 'missing'): void;
  stop(): Promise<void>;
}

export async function startRemoteAgent(options: RemoteAgentOptions = {}): Promise<RemoteAgent> {
  const { authorization, malformed } = options;
  const isAuthorized =
    typeof authorization === 'string' ? (value?: string) => value === authorization : authorization;
  const requests: string[] = [];
  let isCut: boolean | 'missing' = false;
  const app = express();
  const server: Server = createServer(app);
  const url = `http://127.0.0.1:${await listenOnFreePort(server)}`;
  const made = cardOf(url, options);
  const card = (await options.card?.(made)) ?? made;
  const executor = createScriptedExecutor();
  const tasks = new InMemoryTaskStore();
  const asked = new Map<string, TaskStatus>();
  async function report(taskId: string, change: (status: TaskStatus) => TaskStatus) {
    const context = new ServerCallContext();
    const task = await tasks.load(taskId, context);
    if (task?.status === undefined) throw new Error('There is no such task.');
    if (task.status.message !== undefined) asked.set(taskId, task.status);
    const status = { ...change(asked.get(taskId) ?? task.status), timestamp: new Date().toISOString() };
    await tasks.save({ ...task, status }, context);
  }
  const targets = new InMemoryPushNotificationStore();
  const sender = new DefaultPushNotificationSender(targets);
  if (options.push === 'refused') targets.save = () => Promise.reject(new Error('No address but mine.'));
  const requestHandler = new DefaultRequestHandler(card, tasks, executor, undefined, targets, sender);
  const isLegacy = card.supportedInterfaces.some(({ protocolVersion }) => protocolVersion === '0.3');
  const legacyCompat = { enabled: isLegacy };
  const handlers = { requestHandler, userBuilder: UserBuilder.noAuthentication, legacyCompat };
  app.use((request, response, next) => {
    requests.push(`${request.method} ${request.path}`);
    if (malformed !== undefined) spoil(response, malformed);
    if (isCut === 'missing') response.status(404).end();
    else if (isCut) request.socket.destroy();
    else if (isAuthorized?.(request.headers.authorization) === false) response.status(401).end();
    else next();
  });
  app.use(
    '/.well-known/agent-card.json',
    agentCardHandler({ agentCardProvider: requestHandler, legacyCompat }),
  );
  app.use('/rpc', jsonRpcHandler(handlers));
  app.use('/rest', restHandler(handlers));
  return {
    ...executor,
    url,
    requests,
    offer(skills) {
      card.skills = AgentCard.fromJSON({ skills }).skills;
    },
    pushTargets: (taskId) => targets.load(taskId, new ServerCallContext()),
    work: (taskId) =>
      report(taskId, (status) => ({
        ...status,
        state: TaskState.TASK_STATE_WORKING,
        message: undefined,
      })),
    repeat: (taskId, kind) =>
      report(taskId, ({ message, ...status }) => ({
        ...status,
        message: message && kind === 'new' ? { ...message, messageId: randomUUID() } : message,
      })),
    cut(now) {
      isCut = now;
      if (now === true) server.closeAllConnections();
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Adds an event that is no JSON to a stream, after its first one. */
function spoil(response: ServerResponse, malformed: string): void {
  const write = response.write.bind(response) as (chunk: unknown) => boolean;
  let isSpoiled = false;
  response.write = ((chunk: unknown) => {
    const isFirst = !isSpoiled && String(chunk).startsWith('data:');
    isSpoiled ||= isFirst;
    const written = write(chunk);
    return isFirst ? write(`data: ${malformed}\n\n`) : written;
  }) as typeof response.write;
}

function cardOf(url: string, options: RemoteAgentOptions): AgentCard {
  const { binding = 'JSONRPC', streaming = true, speaksElicitation = false } = options;
  const [protocolBinding = '', protocolVersion = '1.0'] = binding.split(' ');
  const path = protocolBinding === 'JSONRPC' ? '/rpc' : '/rest';
  const extension = { uri: ELICITATION_EXTENSION, description: '', required: false };
  return AgentCard.fromJSON({
    name: 'Stock',
    description: 'A stock agent.',
    version: '1',
    supportedInterfaces: [{ url: `${url}${path}`, protocolBinding, protocolVersion }],
    capabilities: {
      streaming,
      pushNotifications: options.push !== undefined,
      extensions: speaksElicitation ? [extension] : [],
    },
    securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: options.skills ?? [],
  });
}
