import { isRecord } from '../plain-record.ts';
import { controlsOf, type FormControl } from './controls.ts';

/**
 * A `requestedSchema` for clients that draw their own controls: its titles are the labels that all other surfaces show. It
 * accepts the same answers. Choices are titled as in the current protocols, which have no `enumNames`.
 */
export function labelledSchema<Schema>(requestedSchema: Schema): Schema {
  if (!isRecord(requestedSchema) || !isRecord(requestedSchema.properties)) return requestedSchema;
  const labelled = controlsOf(requestedSchema).map((control) => [control.name, labelledField(control)]);
  // Object.fromEntries creates an own property for any name, unlike assignment. Unreadable fields stay unchanged.
  return {
    ...requestedSchema,
    properties: { ...requestedSchema.properties, ...Object.fromEntries(labelled) },
  };
}

function labelledField({ kind, name, label, description, choices, schema }: FormControl) {
  const { title: _title, description: _description, ...field } = schema;
  const labels = {
    ...(label !== name && { title: label }),
    ...(description !== undefined && { description }),
  };
  const isPlain = choices.every(({ value, label: shown }) => value === shown);
  const values = choices.map(({ value }) => value);
  const options = choices.map(({ value, label: title }) => ({ const: value, title }));
  if (kind === 'multi')
    return { ...field, ...labels, items: isPlain ? { type: 'string', enum: values } : { anyOf: options } };
  if (kind !== 'select') return { ...field, ...labels };
  const preset = schema.default === undefined ? {} : { default: schema.default };
  return { type: 'string', ...labels, ...(isPlain ? { enum: values } : { oneOf: options }), ...preset };
}
