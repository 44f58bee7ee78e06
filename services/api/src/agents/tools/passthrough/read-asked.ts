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

/** Reads a request in `inputRequests`, of a round or of a task. Throws QuestionRefused if it cannot be made here. */
export function requestIn(request: unknown, { modes }: Pick<McpServerRef, 'modes'>): ServerRequest {
  const method = isRecord(request) ? request.method : undefined;
  if (isRecord(request) && typeof method === 'string' && modes !== undefined && isAskable(method, modes))
    return readRequest(method, request.params, modes);
  throw new QuestionRefused('The server asks for something that was not declared.', capabilityFor(method));
}

/** The failure of a call whose server asked for something that cannot be answered. Throws every other error. */
export function failureOfAsking(error: unknown): McpFailure {
  if (error instanceof QuestionRefused) return refused(error);
  if (error instanceof ClientRefused)
    return { type: 'refused', message: `The client gave no result. ${error.message}` };
  if (error instanceof TooManyQuestions)
    return { type: 'refused', message: 'The server asked the user too many questions.' };
  throw error;
}

/** The failure for a request that cannot be answered, with the capability that a client must declare for it. */
function refused({ message, requires }: QuestionRefused): McpFailure {
  const data = { requiredCapabilities: requires };
  const refusal = { code: ProtocolErrorCode.MissingRequiredClientCapability, message, data };
  return { type: 'input_required', message, ...(requires !== undefined && { refusal }) };
}
