import type { CreateElicitationRequest, CreateElicitationResponse } from '@agentclientprotocol/sdk';
import { labelledSchema } from '@parley/core/domain/forms/labelled';
import { isRecord } from '@parley/core/domain/plain-record';
import type { Answer, Elicitation } from '@parley/sdk';

/** What the server found wrong with the fields, which is why a form is asked again. */
export type FieldFaults = readonly { readonly path: string; readonly message: string }[];

/** The `elicitation/create` request for a question. The client must have declared the question's mode. */
export function createRequest(
  sessionId: string,
  elicitation: Elicitation,
  faults: FieldFaults = [],
): CreateElicitationRequest {
  const { elicitationId, mode, message, title, description, url = '', expiresAt } = elicitation;
  const wrong = faults.map(({ path, message }) => `${path}: ${message}`).join('\n');
  const text = [message, description, wrong].filter((part) => part !== undefined && part !== '').join('\n\n');
  // Clients may show the deadline; the id lets them tell questions apart.
  const common = { sessionId, message: text, _meta: { parley: { elicitationId, expiresAt } } };
  if (mode === 'url') return { ...common, mode, elicitationId, url };
  const schema = { ...(title !== undefined && { title }), ...labelledSchema(elicitation.requestedSchema) };
  return { ...common, mode, requestedSchema: { ...schema, type: 'object' } };
}

/**
 * The answer in a client's response; undefined for an action that this version does not know. Content is used only with an
 * accepted form.
 */
export function readResponse(
  { mode }: Pick<Elicitation, 'mode'>,
  response: CreateElicitationResponse,
): Answer | undefined {
  const { action } = response;
  if (action === 'decline' || action === 'cancel') return { action };
  if (action !== 'accept') return undefined;
  if (mode === 'url') return { action };
  // A form without required fields may be accepted without content.
  const content = isRecord(response.content) ? response.content : {};
  return { action, content: content as Extract<Answer, { action: 'accept' }>['content'] & object };
}
