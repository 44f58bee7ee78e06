export {
  type Answer,
  type AnswerLink,
  type ApprovalChange,
  type ApprovalChoice,
  type CallOptions,
  type ElicitationChange,
  type ElicitationPage,
  type InboxItem,
  isParleyClientError,
  type OtherEvent,
  ParleyClientError,
  type Problem,
  type RetryOptions,
  type StreamItem,
  type TokenSource,
} from '@parley/core';
export type { Approval } from '@parley/core/domain/approvals/approval';
export { compareWaiting, type Risk } from '@parley/core/domain/approvals/risk';
export type { Elicitation } from '@parley/core/domain/elicitations/elicitation';
export type {
  Action,
  Completion,
  Mode,
  Status,
  TerminalStatus,
} from '@parley/core/domain/elicitations/status';
export type { ErrorCode } from '@parley/core/domain/errors';
export type { FormContent } from '@parley/core/domain/forms/answer';
export {
  type AnswerLinkOptions,
  type AskedElicitation,
  type AskOptions,
  type ClientOptions,
  createClient,
  type InboxOptions,
  type ParleyClient,
  type StreamOptions,
} from './client.ts';
export type { ElicitationList, ListFilter } from './list.ts';
export type { Outcome } from './outcome.ts';
export type { AnswerTo, FormQuestion, Question, QuestionBase, UrlQuestion } from './question.ts';
export type { ContentOf, FormSchemaInput } from './typed-form.ts';
