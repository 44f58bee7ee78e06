/**
 * Reads the requests that an MCP server makes during a call, and what a client must declare for them. Asking the person is in
 * `agents/tools/passthrough`.
 */

import {
  CLIENT_METHODS,
  type ClientMethod,
  type ClientResult,
  type ClientServices,
} from '@parley/shared/domain/runs/client-request';
import { z } from 'zod';
import { isReadable } from '../readable.ts';
import {
  type QuestionModes,
  QuestionRefused,
  readQuestion,
  type ServerAnswer,
  type ServerQuestion,
} from './question.ts';

/** The requests that a server may make during a call: questions for the person, and services of the client. */
export interface AskableKinds extends QuestionModes {
  /** Services that the client offers; absent if there are none. */
  readonly services?: ClientServices | undefined;
}

/** A request that a server makes of the client itself. */
export interface ClientAsk {
  readonly mode: 'client';
  readonly method: ClientMethod;
  readonly params: Readonly<Record<string, unknown>>;
}

/** A request of a server, with its answer in MCP's format. */
export type ServerRequest = ServerQuestion | ClientAsk;
export type ServerReply = ServerAnswer | ClientResult;

/** The client gave no result. The code is one of JSON-RPC or of the client. */
export class ClientRefused extends Error {
  readonly code: number;

  constructor(message: string, code: number) {
    super(message);
    this.name = 'ClientRefused';
    this.code = code;
  }
}

const ELICIT = 'elicitation/create';
const BYTES_MAX = 64_000;

// `includeContext` is removed: a server must not learn what other servers told the client.
const Sampling = z.object({
  messages: z
    .array(z.looseObject({ role: z.enum(['user', 'assistant']) }), 'must be a list')
    .min(1, 'must not be empty'),
  maxTokens: z.int('must be a whole number').positive('must be positive'),
  modelPreferences: z.looseObject({}).optional(),
  systemPrompt: z.string().optional(),
  temperature: z.number().optional(),
  stopSequences: z.array(z.string()).optional(),
  metadata: z.looseObject({}).optional(),
  tools: z.array(z.looseObject({})).optional(),
  toolChoice: z.looseObject({}).optional(),
});

/** True if the declared capabilities allow requests of this method. */
export function isAskable(method: unknown, { form, url, services }: AskableKinds): boolean {
  switch (method) {
    case ELICIT:
      return form || url;
    case 'sampling/createMessage':
      return services?.sampling !== undefined;
    case 'roots/list':
      return services?.roots === true;
    default:
      return false;
  }
}

/**
 * The capability that a client must declare for this method, in the form in which errors name it. Undefined for an unknown
 * method.
 */
export function capabilityFor(method: unknown): Readonly<Record<string, object>> | undefined {
  const known = CLIENT_METHODS.find((one) => one === method);
  return known && { [known === 'roots/list' ? 'roots' : 'sampling']: {} };
}

/** Reads a request that may be made. Throws QuestionRefused if it is malformed. */
export function readRequest(method: string, params: unknown, kinds: AskableKinds): ServerRequest {
  if (method === ELICIT) return readQuestion(params, kinds);
  if (method === 'roots/list') return { mode: 'client', method, params: {} };
  return { mode: 'client', method: 'sampling/createMessage', params: readSampling(params, kinds) };
}

function readSampling(params: unknown, { services }: AskableKinds): ClientAsk['params'] {
  if (!isReadable(params)) throw new QuestionRefused('The request is too large to be read.');
  const parsed = Sampling.safeParse(params ?? {});
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new QuestionRefused(`${issue?.path.join('.') ?? 'params'} ${issue?.message ?? 'is invalid'}.`);
  }
  const { data } = parsed;
  if (services?.sampling?.tools !== true && (data.tools !== undefined || data.toolChoice !== undefined))
    throw new QuestionRefused('The client has not declared sampling with tools.');
  if (Buffer.byteLength(JSON.stringify(data)) > BYTES_MAX)
    throw new QuestionRefused(`A request to the client may have ${BYTES_MAX} bytes.`);
  return data;
}
