import type { Elicitation } from '@parley/core/domain/elicitations/elicitation';
import { type ControlKind, controlsOf, type FormControl } from '@parley/core/domain/forms/controls';
import { isRecord } from '@parley/core/domain/plain-record';
import type { SseFrameEvent } from '../../http/sse.ts';

/** The types of fields, in the terms of agents that use `elicitation_requested`. */
type ElicitType = 'text' | 'choice' | 'multi_choice' | 'number' | 'confirmation' | 'form' | 'url';

interface ElicitField {
  readonly name: string;
  readonly prompt: string;
  readonly type: ElicitType;
  readonly options?: readonly string[];
}

/**
 * Converts an event of a stream to `elicitation_requested` or `elicitation_resolved`. A question with one field has that
 * field's type; one with several is a `form` with `fields`. Other events have no such form.
 */
export function elicitEventOf(event: SseFrameEvent): SseFrameEvent | undefined {
  const position = event.id === undefined ? {} : { id: event.id };
  if (event.event === 'elicitation-request') {
    return { ...position, event: 'elicitation_requested', data: requested(event.data as Elicitation) };
  }
  if (event.event === 'elicitation-resolved') {
    const { elicitationId, status } = event.data as Elicitation;
    return { ...position, event: 'elicitation_resolved', data: { elicit_id: elicitationId, status } };
  }
  return event.event === 'stream-reset' ? event : undefined;
}

function requested({ elicitationId, message, url, requestedSchema, expiresAt }: Elicitation) {
  const base = { elicit_id: elicitationId, prompt: message, expires_at: expiresAt };
  if (url !== undefined || requestedSchema === undefined) return { ...base, type: 'url', url };
  const fields = controlsOf(requestedSchema).map(fieldOf);
  const sole = fields.length === 1 ? fields[0] : undefined;
  if (sole === undefined) return { ...base, type: 'form', fields };
  return { ...base, type: sole.type, ...(sole.options !== undefined && { options: sole.options }) };
}

const TYPES: { readonly [kind in ControlKind]?: ElicitType } = {
  boolean: 'confirmation',
  number: 'number',
  integer: 'number',
  select: 'choice',
  multi: 'multi_choice',
};

/** The options are values, because agents expect values in answers. */
function fieldOf({ kind, name, label, choices }: FormControl): ElicitField {
  const options = choices.map(({ value }) => value);
  return { name, prompt: label, type: TYPES[kind] ?? 'text', ...(options.length > 0 && { options }) };
}

/** The content of an answer in these terms: the `values` of a form, or the `value` of its only field. */
export function contentOfElicitAnswer(
  { requestedSchema }: Pick<Elicitation, 'requestedSchema'>,
  {
    value,
    values,
  }: { readonly value?: unknown; readonly values?: Readonly<Record<string, unknown>> | undefined },
): Readonly<Record<string, unknown>> | undefined {
  if (values !== undefined) return values;
  const names = Object.keys(isRecord(requestedSchema?.properties) ? requestedSchema.properties : {});
  const [name] = names;
  return value === undefined || name === undefined || names.length > 1 ? undefined : { [name]: value };
}
