/**
 * Converts the errors of MCP requests to failures for models and people. What is done about a failure is decided by the
 * callers.
 */

import {
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
} from '@modelcontextprotocol/client';
import {
  CredentialRefused,
  ForeignOrigin,
  MessageTooLarge,
  RevisionRefused,
  SessionLost,
  TooManyQuestions,
} from './errors.ts';
import { QuestionRefused } from './questions/question.ts';
import { PagesNotVisited } from './questions/required-pages.ts';
import type { Dispatched, McpFailure } from './results.ts';

const MESSAGE_MAX = 1_000;
// The maximum length of an error's data as JSON. More is removed, because it may be stored in the events of a turn.
const DATA_LENGTH_MAX = 16_000;
const INVALID_REPLY = 'The server answered with something that is not MCP.';
const TOO_MANY_QUESTIONS =
  'The server asked the user too many questions, so the call was ended. It may or may not have had its effect.';
const SESSION_LOST =
  'The server ended its session during the request, which may or may not have had its effect. The next one opens a new session.';
const INPUT_REQUIRED = 'The server wants to ask the person for something, which is not possible here.';

/** Converts the error of a request. Only the server's own words about a refusal are quoted. */
export function failureOf(error: unknown, dispatched: Dispatched): McpFailure {
  if (error instanceof CredentialRefused) return error.refusal;
  if (error instanceof MessageTooLarge)
    return { type: 'refused', message: 'The answer of the server is too large.' };
  if (error instanceof PagesNotVisited) return { type: 'refused', message: error.message };
  if (error instanceof QuestionRefused)
    return { type: 'input_required', message: error.message.slice(0, MESSAGE_MAX) };
  if (error instanceof TooManyQuestions) return { type: 'refused', message: TOO_MANY_QUESTIONS };
  if (error instanceof SessionLost) return { type: 'unavailable', message: SESSION_LOST, dispatched };
  if (error instanceof RevisionRefused) return failureOfRevision(error);
  if (error instanceof ProtocolError) return failureOfProtocol(error);
  if (error instanceof SdkHttpError) return failureOfStatus(error.status, dispatched);
  if (error instanceof SdkError) return failureOfSdk(error, dispatched);
  if (error instanceof ForeignOrigin) return redirected();
  if (error instanceof Error && ['SyntaxError', 'ZodError'].includes(error.name))
    return { type: 'refused', message: INVALID_REPLY };
  return { type: 'unavailable', message: sentenceOf(codeOf(error)), dispatched };
}

function failureOfProtocol(error: ProtocolError): McpFailure {
  if (error.code === ProtocolErrorCode.UrlElicitationRequired)
    return { type: 'input_required', message: INPUT_REQUIRED };
  const message = error.message.slice(0, MESSAGE_MAX);
  const { code, data } = error;
  const hasData = data !== undefined && JSON.stringify(data).length <= DATA_LENGTH_MAX;
  const refusal = { code, message, ...(hasData && { data }) };
  return code === ProtocolErrorCode.MissingRequiredClientCapability && !namesExtension(data)
    ? { type: 'input_required', message: INPUT_REQUIRED, refusal }
    : { type: 'refused', message: `The server refused: ${message}`, refusal };
}

/** A missing extension of the client does not count as a question that cannot be asked. */
function namesExtension(data: unknown): boolean {
  return isRecord(data) && isRecord(data.requiredCapabilities) && 'extensions' in data.requiredCapabilities;
}

function failureOfRevision({ revision, serverId, cause }: RevisionRefused): McpFailure {
  const asked = `The server does not accept MCP ${revision}, which is needed here (setting \`mcpServers.${serverId}.protocol\`).`;
  const reply = failureOf(cause, 'no');
  return { type: 'refused', message: reply.type === 'refused' ? `${asked} ${reply.message}` : asked };
}

function failureOfStatus(status: number, dispatched: Dispatched): McpFailure {
  if (status >= 300 && status < 400) return redirected();
  const message = `The server answered with HTTP status ${status}.`;
  if (status === 401) return { type: 'unauthorized', status };
  // HTTP 429 means too many requests: the server did not execute this one.
  if (status === 429) return { type: 'unavailable', message, dispatched: 'no' };
  if (status >= 500 || status === 408) return { type: 'unavailable', message, dispatched };
  return { type: 'refused', message };
}

function failureOfSdk(error: SdkError, dispatched: Dispatched): McpFailure {
  const { data } = error;
  switch (error.code) {
    case SdkErrorCode.RequestTimeout:
      return { type: 'timeout', dispatched };
    case SdkErrorCode.UnsupportedResultType:
      return isRecord(data) && data.resultType === 'input_required'
        ? { type: 'input_required', message: INPUT_REQUIRED }
        : { type: 'refused', message: INVALID_REPLY };
    case SdkErrorCode.InvalidResult:
    case SdkErrorCode.ClientHttpUnexpectedContent:
      return { type: 'refused', message: INVALID_REPLY };
    case SdkErrorCode.EraNegotiationFailed:
      return error.cause === undefined
        ? { type: 'unavailable', message: sentenceOf(undefined), dispatched }
        : failureOf(error.cause, dispatched);
    default:
      return { type: 'unavailable', message: 'The connection to the server ended.', dispatched };
  }
}

function redirected(): McpFailure {
  const message = 'The server redirects to another address, which is not followed.';
  return { type: 'refused', message };
}

function sentenceOf(code: string | undefined): string {
  switch (code) {
    case 'ECONNREFUSED':
      return 'The server refuses connections.';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'The address of the server is not known.';
    case 'ENOENT':
    case 'EACCES':
      return 'The program of the server cannot be started.';
    case 'ECONNRESET':
    case 'EPIPE':
      return 'The connection to the server broke.';
    default:
      return 'The server cannot be reached.';
  }
}

/** The code of a system error, or of its cause. */
function codeOf(error: unknown): string | undefined {
  if (!isRecord(error)) return undefined;
  return typeof error.code === 'string' ? error.code : codeOf(error.cause);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
