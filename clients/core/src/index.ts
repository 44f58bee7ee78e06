export {
  type ApprovalChoice,
  type ApprovalQuery,
  answerLinkPath,
  listApprovals,
  listRememberedApprovals,
  readApproval,
  revokeRememberedApproval,
  sendDecision,
} from './approvals.ts';
export {
  type Answer,
  type CallOptions,
  ELICITATIONS_PATH,
  elicitationPath,
  followInbox,
  followStream,
  listElicitations,
  readElicitation,
  sendAnswer,
} from './elicitations.ts';
export { isParleyClientError, isTransient, ParleyClientError, type Problem } from './errors.ts';
export { type OpenResponse, openResponse, readEventStream } from './event-stream.ts';
export {
  type ApprovalChange,
  type ElicitationChange,
  eventItemOf,
  type InboxItem,
  type OtherEvent,
  type StreamItem,
} from './events.ts';
export { type FollowEventsOptions, followEvents } from './follow.ts';
export { createRandomId } from './random-id.ts';
export {
  type AnswerLink,
  type ApprovalPage,
  type ElicitationPage,
  parseAnswerLink,
  parseApproval,
  parseElicitation,
  type RememberedApproval,
} from './replies.ts';
export {
  createBackoff,
  createRetryBudget,
  RETRY_DEFAULTS,
  type RetryBudget,
  type RetryOptions,
} from './retry.ts';
export { createSseParser, type SseEvent } from './sse-parser.ts';
export { sleep, withTimeout } from './time.ts';
export {
  createHeaders,
  createTransport,
  pathSegment,
  resolveBaseUrl,
  type TokenSource,
  type Transport,
} from './transport.ts';
