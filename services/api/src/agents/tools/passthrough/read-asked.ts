import { ProtocolErrorCode } from '@modelcontextprotocol/client';
import { isRecord } from '@parley/core/domain/plain-record';
import type { McpServerRef } from '../../mcp/calls/mcp-tools.ts';
import { TooManyQuestions } from '../../mcp/errors.ts';
import {
  ClientRefused,
  capabilityFor,
  isAskable,
  readRequest,
  type ServerRequest,
} from '../../mcp/questions/client-ask.ts';
import { QuestionRefused } from '../../mcp/questions/question.ts';
import type { McpFailure } from '../../mcp/results.ts';

/** Reads a request of `inputRequests`, of a round and of a task alike. Throws QuestionRefused where it cannot be made here. */
export function requestIn(request: unknown, { modes }: Pick<McpServerRef, 'modes'>): ServerRequest {
  const method = isRecord(request) ? request.method : undefined;
  if (isRecord(request) && typeof method === 'string' && modes !== undefined && isAskable(method, modes))
    return readRequest(method, request.params, modes);
  throw new QuestionRefused('The server asks for something that was not declared.', capabilityFor(method));
}

/** How a call ends whose server asked for something without an answer. Throws every other error. */
export function failureOfAsking(error: unknown): McpFailure {
  if (error instanceof QuestionRefused) return refused(error);
  if (error instanceof ClientRefused)
    return { type: 'refused', message: `The client gave no result. ${error.message}` };
  if (error instanceof TooManyQuestions)
    return { type: 'refused', message: 'The server asked the user too many questions.' };
  throw error;
}

/** A request that cannot be answered, with what a client must declare for it. */
function refused({ message, requires }: QuestionRefused): McpFailure {
  const data = { requiredCapabilities: requires };
  const refusal = { code: ProtocolErrorCode.MissingRequiredClientCapability, message, data };
  return { type: 'input_required', message, ...(requires !== undefined && { refusal }) };
}
