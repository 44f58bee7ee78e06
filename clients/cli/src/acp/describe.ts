import { riskNote } from '@parley/core/domain/approvals/risk';
import { callText } from '@parley/core/domain/approvals/tool-title';
import { askerOf } from '@parley/core/domain/elicitations/asker';
import { controlsOf, type FormControl } from '@parley/core/domain/forms/controls';
import { isRecord } from '@parley/core/domain/plain-record';
import type { Approval, Elicitation } from '@parley/sdk';

/** Describes a question that reached nobody; its asker continues with its own default. */
export function describeUndelivered(elicitation: Elicitation): string {
  return paragraphs(
    describeQuestion(elicitation),
    'This editor cannot show the question, so you were not asked. The agent continues with its own default.',
  );
}

/** Describes an open question that this client cannot show. It may be withdrawn at once because it reaches nobody. */
export function describeElsewhere(elicitation: Elicitation): string {
  return paragraphs(
    describeQuestion(elicitation),
    'This editor cannot show the question. While it is open, it can be answered in the chat or the inbox of Parley.',
  );
}

/** Follows the description of an open question that then reached nobody. */
export const NOBODY_WAS_ASKED =
  'The question reached nobody, so you were not asked. The agent continues with its own default.';

/** Describes a question that the client could not show although it declared that it could. */
export function describeFailed(elicitation: Elicitation): string {
  return paragraphs(
    describeQuestion(elicitation),
    'The editor did not return an answer that can be used. The question was cancelled.',
  );
}

/** Describes a call that waits for an approval on which this editor did not decide. */
export function describeApproval(approval: Approval): string {
  return paragraphs(
    `**Approval:** ${callText(approval)}`,
    'Nothing was decided here. The call waits until its deadline; decide on it in the chat or the inbox of Parley.',
  );
}

/** Describes what the agent wanted to ask with its tool `elicit`; undefined for other input. */
export function describeUnasked(input: unknown): string | undefined {
  if (!isRecord(input) || typeof input.message !== 'string') return undefined;
  return paragraphs(
    `**Question:** ${input.message}`,
    'This editor cannot show questions, so you were not asked. You can answer with your next message.',
  );
}

/** Describes that a tool needs the person's account and was not called. */
export function describeNotice(data: unknown): string | undefined {
  return isRecord(data) && typeof data.message === 'string' ? `**${data.message}**` : undefined;
}

/** The text of a question. A url is left out: outside of url mode no client may make it clickable. */
function describeQuestion(question: Elicitation): string {
  const { title = 'Question', message, description, requestedSchema, risk } = question;
  const asker = askerOf(question);
  const by = asker === undefined ? '' : ` (asked by ${asker})`;
  const heading = `**${title}${riskNote(risk)}:** ${message}${by}`;
  const lines = controlsOf(requestedSchema).map(describeControl);
  return paragraphs(heading, description, lines.length === 0 ? undefined : lines.join('\n'));
}

function describeControl({ label, description, choices }: FormControl): string {
  const offered = choices.map((choice) => choice.label).join(', ');
  return [
    `- ${label}`,
    ...(description === undefined ? [] : [`: ${description}`]),
    ...(offered === '' ? [] : [` (${offered})`]),
  ].join('');
}

function paragraphs(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined).join('\n\n');
}
