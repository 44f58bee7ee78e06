export type {
  AnswerOf,
  ApprovalAnswer,
  ApprovalAsk,
  Ask,
  AskBase,
  AskField,
  ChoiceField,
  ChoiceOption,
  ConfirmationField,
  DateField,
  FieldValue,
  FormAsk,
  FormStep,
  MultiChoiceField,
  NumberField,
  OptionalField,
  SecretAnswer,
  SecretAsk,
  TextField,
  UrlAsk,
} from './elicit/asks.ts';
export { type AskCall, createElicitor, type Elicitor, type ElicitorOptions } from './elicit/elicitor.ts';
export { type AnswerFault, isSkippedOther } from './elicit/flat-fields.ts';
export type { ElicitationHandler, HandlerCall, Prompt, PromptReply } from './elicit/handler.ts';
export { type AcpElicitParams, type AcpHandlerOptions, createAcpHandler } from './elicit/handlers/acp.ts';
export {
  createMcpHandler,
  type McpElicitParams,
  type McpElicitResult,
  type McpHandlerOptions,
} from './elicit/handlers/mcp.ts';
export { createParleyHandler, type ParleyHandlerOptions } from './elicit/handlers/parley.ts';
export { fieldsOfList, type ListedField } from './elicit/listed-fields.ts';
export { type AskOutcome, type Attempt, NobodyCanAskError, QuestionLostError } from './elicit/outcome.ts';
export { pagesOf } from './elicit/pages.ts';
export { createSecretAnswer } from './elicit/secret-answer.ts';
