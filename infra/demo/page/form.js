import { element } from './element.js';

/** The fields of a form question, made from its schema: MCP's flat subset of JSON Schema. */
export function createFields(prefix, { properties, required = [] }) {
  const fields = Object.entries(properties).map(([name, schema]) =>
    createField(`${prefix}-${name}`, name, schema, required.includes(name)),
  );
  return {
    elements: fields.map((field) => field.element),
    /** What was filled in; fields left empty are left out. */
    content: () =>
      Object.fromEntries(
        fields.flatMap(({ name, value }) => {
          const given = value();
          return given === undefined ? [] : [[name, given]];
        }),
      ),
    /** Shows what is wrong with which field, and goes to the first; false when none of them is named. */
    showErrors(errors) {
      const wrong = fields.filter(({ name, show }) => {
        const error = errors.find(({ path }) => path.split('.')[0] === name);
        show(error?.message);
        return error !== undefined;
      });
      wrong[0]?.focus();
      return wrong.length > 0;
    },
  };
}

function createField(id, name, schema, required) {
  const title = schema.title ?? name;
  const label = required || schema.type === 'boolean' ? title : `${title} (optional)`;
  const error = element('p', { className: 'error', id: `${id}-error` });
  const { parts, inputs, value } = controlOf(id, label, schema);
  for (const input of inputs) input.setAttribute('aria-describedby', error.id);
  const help =
    schema.description === undefined ? [] : [element('p', { className: 'fine' }, schema.description)];
  return {
    name,
    value,
    element: element('div', { className: 'field' }, ...parts, ...help, error),
    show(message) {
      error.textContent = message === undefined ? '' : `${title} ${message}`;
      for (const input of inputs) input.setAttribute('aria-invalid', String(message !== undefined));
    },
    focus: () => inputs[0]?.focus(),
  };
}

function controlOf(id, label, schema) {
  const options = optionsOf(schema.type === 'array' ? schema.items : schema);
  if (schema.type === 'array') return ticks(id, label, options ?? [], schema.default ?? []);
  if (schema.type === 'boolean') return tick(id, label, schema.default ?? false);
  if (options !== undefined) return choice(id, label, options, schema.default);
  return line(id, label, schema);
}

function optionsOf(schema) {
  const titled = schema.oneOf ?? schema.anyOf;
  if (titled !== undefined) return titled.map((option) => [option.const, option.title ?? option.const]);
  return schema.enum?.map((value, at) => [value, schema.enumNames?.[at] ?? value]);
}

const INPUT_TYPES = { email: 'email', uri: 'url', date: 'date', 'date-time': 'datetime-local' };

function line(id, label, schema) {
  const isNumber = schema.type !== 'string';
  const input = element('input', {
    id,
    type: isNumber ? 'number' : (INPUT_TYPES[schema.format] ?? 'text'),
    step: schema.type === 'number' ? 'any' : undefined,
    value: schema.default ?? '',
  });
  const value = () => {
    if (input.value === '') return undefined;
    if (isNumber) return Number(input.value);
    return schema.format === 'date-time' ? new Date(input.value).toISOString() : input.value;
  };
  return { parts: [labelOf(id, label), input], inputs: [input], value };
}

function choice(id, label, options, chosen) {
  const empty = element('option', { value: '', textContent: 'Choose…' });
  const input = element(
    'select',
    { id },
    empty,
    ...options.map(([value, title]) => element('option', { value, textContent: title })),
  );
  input.value = chosen ?? '';
  return { parts: [labelOf(id, label), input], inputs: [input], value: () => input.value || undefined };
}

function tick(id, label, checked) {
  const input = element('input', { id, type: 'checkbox', checked });
  const row = element('label', { className: 'tick' }, input, label);
  return { parts: [row], inputs: [input], value: () => input.checked };
}

function ticks(id, label, options, chosen) {
  const inputs = options.map(([value], at) =>
    element('input', { id: `${id}-${at}`, type: 'checkbox', value, checked: chosen.includes(value) }),
  );
  const rows = inputs.map((input, at) => element('label', { className: 'tick' }, input, options[at][1]));
  const group = element('fieldset', {}, element('legend', {}, label), ...rows);
  return {
    parts: [group],
    inputs,
    value: () => inputs.filter((input) => input.checked).map((input) => input.value),
  };
}

function labelOf(id, text) {
  return element('label', { htmlFor: id }, text);
}
