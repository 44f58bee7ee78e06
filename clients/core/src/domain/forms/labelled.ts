import { isRecord } from '../plain-record.ts';
import { controlsOf, type FormControl } from './controls.ts';

/**
 * The `requestedSchema` for a client that draws its own controls: with the labels that all other surfaces show, as titles.
 * It accepts the same answers. Choices have the titles of the current protocols, which know no `enumNames`.
 */
export function labelledSchema<Schema>(requestedSchema: Schema): Schema {
  if (!isRecord(requestedSchema) || !isRecord(requestedSchema.properties)) return requestedSchema;
  const labelled = controlsOf(requestedSchema).map((control) => [control.name, labelledField(control)]);
  // Unlike assignment, this creates an own property for any name. What cannot be read stays as it is.
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
