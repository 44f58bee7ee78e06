import type { Elicitation } from '@parley/shared/domain/elicitations/elicitation';
import { isRecord } from '@parley/shared/domain/plain-record';
import type { SseFrameEvent } from '../../http/sse.ts';

/** What a field may hold, in the words of agents that raise `elicitation_requested`. */
type ElicitType = 'text' | 'choice' | 'multi_choice' | 'number' | 'confirmation' | 'form' | 'url';

interface ElicitField {
  readonly name: string;
  readonly prompt: string;
  readonly type: ElicitType;
  readonly options?: readonly string[];
}

/**
 * An event of a stream as `elicitation_requested` or `elicitation_resolved`. A question with one field has that field's
 * type; one with several is a `form` with `fields`. Events of other kinds have no such view.
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
  const fields = fieldsOf(requestedSchema);
  const sole = fields.length === 1 ? fields[0] : undefined;
  if (sole === undefined) return { ...base, type: 'form', fields };
  return { ...base, type: sole.type, ...(sole.options !== undefined && { options: sole.options }) };
}

function fieldsOf({ properties }: Readonly<Record<string, unknown>>): readonly ElicitField[] {
  if (!isRecord(properties)) return [];
  return Object.entries(properties).map(([name, field]) => {
    const schema = isRecord(field) ? field : {};
    const options = optionsOf(schema) ?? optionsOf(isRecord(schema.items) ? schema.items : {});
    const prompt = typeof schema.title === 'string' ? schema.title : name;
    return { name, prompt, type: typeOf(schema, options), ...(options !== undefined && { options }) };
  });
}

function typeOf(
  { type }: Readonly<Record<string, unknown>>,
  options: readonly string[] | undefined,
): ElicitType {
  if (type === 'array') return 'multi_choice';
  if (options !== undefined) return 'choice';
  if (type === 'boolean') return 'confirmation';
  return type === 'number' || type === 'integer' ? 'number' : 'text';
}

function optionsOf(schema: Readonly<Record<string, unknown>>): readonly string[] | undefined {
  if (Array.isArray(schema.enum)) return schema.enum.map(String);
  const titled = schema.oneOf ?? schema.anyOf;
  return Array.isArray(titled)
    ? titled.map((option) => String(isRecord(option) ? option.const : option))
    : undefined;
}

/** The content of an answer in these words: `values` of a form, or the `value` of its only field. */
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
