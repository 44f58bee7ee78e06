import { riskNote } from '@parley/core/domain/approvals/risk';
import { callText } from '@parley/core/domain/approvals/tool-title';
import { askerOf } from '@parley/core/domain/elicitations/asker';
import { controlsOf, type FormControl } from '@parley/core/domain/forms/controls';
import { isRecord } from '@parley/core/domain/plain-record';
import type { Approval, Elicitation } from '@parley/sdk';

/** The text for a question that reached nobody. Its asker continues with its own default. */
export function describeUndelivered(elicitation: Elicitation): string {
  return paragraphs(
    describeQuestion(elicitation),
    'This editor cannot show the question, so you were not asked. The agent continues with its own default.',
  );
}

/** The text for an open question that this client cannot show. The question may be withdrawn soon, if it reaches nobody. */
export function describeElsewhere(elicitation: Elicitation): string {
  return paragraphs(
    describeQuestion(elicitation),
    'This editor cannot show the question. While it is open, it can be answered in the chat or the inbox of Parley.',
  );
}

/** The text that follows if such a question then reached nobody. */
export const NOBODY_WAS_ASKED =
  'The question reached nobody, so you were not asked. The agent continues with its own default.';

/** The text for a question that the client failed to show although it had declared support. */
export function describeFailed(elicitation: Elicitation): string {
  return paragraphs(
    describeQuestion(elicitation),
    'The editor did not return an answer that can be used. The question was cancelled.',
  );
}

/** The text for a call whose approval was not decided in this editor. */
export function describeApproval(approval: Approval): string {
  return paragraphs(
    `**Approval:** ${callText(approval)}`,
    'Nothing was decided here. The call waits until its deadline; decide on it in the chat or the inbox of Parley.',
  );
}

/** The text for what the agent wanted to ask with its tool `elicit`; undefined for other input. */
export function describeUnasked(input: unknown): string | undefined {
  if (!isRecord(input) || typeof input.message !== 'string') return undefined;
  return paragraphs(
    `**Question:** ${input.message}`,
    'This editor cannot show questions, so you were not asked. You can answer with your next message.',
  );
}

/** The text for a tool that was not called because it needs the person's account. */
export function describeNotice(data: unknown): string | undefined {
  return isRecord(data) && typeof data.message === 'string' ? `**${data.message}**` : undefined;
}

/** The text of a question without its url, because clients may make a url clickable only in url mode. */
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
