export type { Elicitation } from '@parley/shared/domain/elicitations/elicitation';
export type {
  Action,
  Completion,
  Mode,
  Status,
  TerminalStatus,
} from '@parley/shared/domain/elicitations/status';
export type { ErrorCode } from '@parley/shared/domain/errors';
export type { FormContent } from '@parley/shared/domain/forms/answer';
export {
  type Answer,
  type Asked,
  type AskOptions,
  type CallOptions,
  type ClientOptions,
  createClient,
  type ParleyClient,
} from './client.ts';
export { isParleyClientError, ParleyClientError, type Problem } from './errors.ts';
export type {
  ElicitationChange,
  InboxItem,
  InboxOptions,
  OtherEvent,
  StreamItem,
  StreamOptions,
} from './events.ts';
export type { ElicitationList, ListFilter } from './list.ts';
export type { Outcome } from './outcome.ts';
export type { AnswerTo, FormQuestion, Question, QuestionBase, UrlQuestion } from './question.ts';
export type { ElicitationPage } from './reply.ts';
export type { RetryOptions } from './retry.ts';
export type { TokenSource } from './transport.ts';
export type { ContentOf, FormSchemaInput } from './typed-form.ts';
