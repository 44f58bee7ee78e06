/**
 * Classifies failed requests to remote agents, for every protocol. What a task does about a fault is decided in the folder of
 * its protocol.
 */

import { visible } from '@parley/core/domain/visible';
import { CredentialRefused, MessageTooLarge } from '../mcp/errors.ts';
import { withReason } from './result.ts';

/**
 * Why a request to a remote agent failed. `unreachable`: it was not sent. `refused`: the agent has not executed it.
 * `unknown`: it may have been executed.
 */
type RemoteFaultKind = 'unreachable' | 'unauthorized' | 'refused' | 'busy' | 'too_large' | 'unknown';

/** A request failed. The message is the agent's own text, shortened; it is empty if the agent gave none. */
export class RemoteFault extends Error {
  override readonly name = 'RemoteFault';
  readonly kind: RemoteFaultKind;
  /** The protocol's name for a refusal, such as `TaskNotFoundError`. */
  readonly errorName: string;
  readonly status: 401 | 403;

  constructor(kind: RemoteFaultKind, message = '', errorName = '', status: 401 | 403 = 401) {
    super(message);
    this.kind = kind;
    this.errorName = errorName;
    this.status = status;
  }
}

/** The refusals of A2A. An agent that replies with one has done nothing. */
const REFUSALS: ReadonlySet<string> = new Set([
  'TaskNotFoundError',
  'TaskNotCancelableError',
  'PushNotificationNotSupportedError',
  'UnsupportedOperationError',
  'ContentTypeNotSupportedError',
  'ExtendedAgentCardNotConfiguredError',
  'ExtensionSupportRequiredError',
  'VersionNotSupportedError',
  'RequestMalformedError',
]);
/** The name of a refusal that consists only of a status, from the agent or from a proxy in front of it. */
export const HTTP_ERROR = 'HttpError';
const METHOD_NOT_FOUND = -32601;
const SHOWN_LENGTH_MAX = 500;

interface FailedRequest {
  /** True if a part of the request may have reached the agent. */
  readonly dispatched: boolean;
  /** Status of the last response, if there was one. */
  readonly status: number | undefined;
  /** Removes the secrets that were sent from the agent's texts. Absent if none were sent. */
  readonly scrub?: (text: string) => string;
}

/** The fault for a request that failed with this error. */
export function faultOf(
  error: unknown,
  { dispatched, status, scrub = (text) => text }: FailedRequest,
): RemoteFault {
  if (error instanceof RemoteFault) return error;
  if (error instanceof CredentialRefused)
    return new RemoteFault('unauthorized', '', '', error.refusal.status);
  const { name, message, envelopeCode } = error as {
    readonly name?: string;
    readonly message?: string;
    readonly envelopeCode?: number;
  };
  // Secrets are removed before the text is cut, because a secret that is cut in two would not be found.
  const text = scrub(visible(message ?? ''))
    .slice(0, SHOWN_LENGTH_MAX)
    .toWellFormed();
  // For A2A 0.3, the client itself refuses requests that the agents do not know, so nothing is dispatched.
  if (REFUSALS.has(name ?? '')) return new RemoteFault('refused', text, name);
  if (envelopeCode === METHOD_NOT_FOUND) return new RemoteFault('refused', text, 'UnsupportedOperationError');
  if (!dispatched) return new RemoteFault('unreachable');
  if (error instanceof MessageTooLarge) return new RemoteFault('too_large');
  if (status === 429) return new RemoteFault('busy');
  const isRefused = status !== undefined && status >= 400 && status < 500 && status !== 408;
  return isRefused ? new RemoteFault('refused', `HTTP ${status}`, HTTP_ERROR) : new RemoteFault('unknown');
}

/** True for a temporary fault, such as that of a proxy, which says nothing about the task. */
export function isPassing({ kind, errorName }: RemoteFault): boolean {
  if (kind === 'refused') return errorName === HTTP_ERROR;
  return kind === 'unreachable' || kind === 'unknown' || kind === 'busy';
}

/** A text for a delegating model. */
export const FATE_UNKNOWN =
  'Whether it was begun is not known. Do not repeat it unasked; find out, or tell the user.';

/** A text for a delegating model: the task is under way, but the agent can no longer be asked about it. */
export function describeUnfollowed(title: string): string {
  return `${title} can no longer be called about the task, which may go on there. Do not repeat it unasked; tell the user.`;
}

/** The failure in words for the delegating model. */
export function describeFault(title: string, { kind, message }: RemoteFault): string {
  switch (kind) {
    case 'unreachable':
      return `${title} could not be reached. Nothing was done.`;
    case 'busy':
      return `${title} is busy with other tasks. Nothing was done.`;
    case 'unauthorized':
      return `${title} refused the credential. Nothing was done; tell the user.`;
    case 'too_large':
      return `${title} sent more than can be read. The task may have been done.`;
    case 'refused':
      return withReason(`${title} refused the task`, message);
    case 'unknown':
      return `${title} broke off. ${FATE_UNKNOWN}`;
  }
}
