/** The modal in which a person edits the arguments of a call. Pure; questions are drawn in `fields.ts`. */

import type { Arguments } from '@parley/core/domain/approvals/approval';
import type { ApprovalDefinition } from '@parley/core/domain/approvals/definition';
import { pointerOf } from '@parley/core/domain/approvals/json-pointer';
import { controlsOf, type FormControl } from '@parley/core/domain/forms/controls';
import type { FormField } from '@parley/core/domain/forms/value';
import { isRecord, own } from '@parley/core/domain/plain-record';
import { readable } from '@parley/core/domain/readable';
import { maskArguments } from '@parley/shared/domain/approvals/mask';
import type { InputBlock } from '@slack/types';
import { answerOf, type FormState, type InputState } from './answer.ts';
import { jsonText } from './arguments.ts';
import { areShowable, inputOf, plain } from './fields.ts';
import { SLACK_MAX, slackNumber } from './limits.ts';
import { FIELD_ACTION, fieldBlockId } from './names.ts';
import { clipped, lineText } from './text.ts';

const INPUTS_MAX = 60;
/** Longer texts get several lines. */
const ONE_LINE_MAX = 80;

/** How an argument is edited: through a form input, as text, or as JSON. */
type EditWay =
  | { readonly type: 'field'; readonly control: FormControl }
  | { readonly type: 'text' }
  | { readonly type: 'json' };

/** An argument that can be edited. `current` is its value; undefined if the call has none. */
interface EditableArgument {
  readonly name: string;
  readonly isRequired: boolean;
  readonly current: unknown;
  readonly way: EditWay;
  readonly title: string;
  readonly description: string | undefined;
}

/**
 * The arguments that have inputs in the modal, those of the call first. Omitted are masked arguments, secrets that the call
 * does not contain, and values that no Slack input can hold; an edit leaves these unchanged. A masked value within an argument
 * appears as a mask in its JSON.
 */
export function editableArguments({ inputSchema, arguments: given, masked }: ApprovalDefinition) {
  if (inputSchema === undefined) return [];
  const schemas = own(inputSchema, 'properties');
  const properties = isRecord(schemas) ? schemas : {};
  const required = own(inputSchema, 'required');
  const names = [...new Set([...Object.keys(given), ...Object.keys(properties)])];
  const absent = names.filter((name) => !Object.hasOwn(given, name));
  const hidden = new Set([...masked, ...secretsAmong(absent, inputSchema)]);
  const shown = names
    .filter((name) => name !== '__proto__' && !hidden.has(pointerOf([name])))
    .map((name) => {
      const schema = own(properties, name);
      const described = isRecord(schema) ? schema : {};
      const current = own(given, name);
      return { name, described, current, field: fieldOf(described, current) };
    });
  // All fields are converted at once, so that equal titles can be distinguished.
  const fields = shown.map(({ name, described, field }) => [
    name,
    field ?? { ...labelsIn(described), type: 'string' },
  ]);
  const controls = new Map(
    controlsOf({ properties: Object.fromEntries(fields), required }).map((control) => [
      control.name,
      control,
    ]),
  );
  return shown
    .map(({ name, described, current, field }): EditableArgument => {
      const control = controls.get(name);
      return {
        name,
        isRequired: Array.isArray(required) && required.includes(name),
        current,
        way: wayOf(field && control, described, current),
        title: control?.label ?? name,
        description: textIn(described.description),
      };
    })
    .filter(fitsInput)
    .slice(0, INPUTS_MAX);
}

/** One argument as an input of the modal, with its value. */
export function editInput(argument: EditableArgument, index: number): InputBlock {
  const { way, isRequired, current, title, description } = argument;
  if (way.type === 'field') return inputOf(way.control, index);
  const initial = initialText(argument);
  const hints = [description, way.type === 'json' ? 'As JSON.' : undefined].filter(Boolean).join(' ');
  return {
    type: 'input',
    block_id: fieldBlockId(index),
    label: plain(lineText(title, SLACK_MAX.label)),
    ...(hints !== '' && { hint: plain(clipped(readable(hints), SLACK_MAX.label)) }),
    // Slack refuses an empty text for a required input, so such an input is optional.
    optional: !isRequired || current === '',
    element: {
      type: 'plain_text_input',
      action_id: FIELD_ACTION,
      multiline: way.type === 'json' || initial.length > ONE_LINE_MAX || initial.includes('\n'),
      max_length: SLACK_MAX.text,
      ...(initial !== '' && { initial_value: initial }),
    },
  };
}

/** The content of a submitted modal: all arguments of the call, or error texts for the inputs that cannot be read. */
export function editOf(
  definition: ApprovalDefinition,
  state: FormState,
): { readonly arguments: Arguments } | { readonly errors: Record<string, string> } {
  const edited: Arguments = structuredClone(definition.arguments);
  const errors: Record<string, string> = {};
  for (const [index, argument] of editableArguments(definition).entries()) {
    const block = fieldBlockId(index);
    const value = submittedValue(argument, state[block]?.[FIELD_ACTION] ?? {});
    if (value === NOT_JSON) errors[block] = 'This is not JSON.';
    else if (value === undefined) delete edited[argument.name];
    else edited[argument.name] = value;
  }
  return Object.keys(errors).length > 0 ? { errors } : { arguments: edited };
}

const NOT_JSON = Symbol('not JSON');

function submittedValue(argument: EditableArgument, state: InputState): unknown {
  const { way, current } = argument;
  if (way.type === 'field') return answerOf(way.control, state);
  const text = state.value ?? '';
  // An untouched argument stays exactly as it is.
  if (text === initialText(argument)) return current;
  if (text === '') return undefined;
  if (way.type === 'text') return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return NOT_JSON;
  }
}

function wayOf(control: FormControl | undefined, schema: Record<string, unknown>, current: unknown): EditWay {
  if (control !== undefined && areShowable([control])) return { type: 'field', control };
  const isText = current === undefined ? schema.type === 'string' : typeof current === 'string';
  return { type: isText ? 'text' : 'json' };
}

/** The form field for a choice, a boolean or a number, if it can hold the value. The tool's schema is checked afterwards. */
function fieldOf(schema: Record<string, unknown>, current: unknown): FormField | undefined {
  const labels = labelsIn(schema);
  const type = current === undefined ? schema.type : typeof current;
  const choices = schema.enum;
  if (type === 'string' && isTexts(choices)) {
    if (typeof current === 'string' && !choices.includes(current)) return undefined;
    return { ...labels, type, enum: choices, ...(typeof current === 'string' && { default: current }) };
  }
  if (type === 'boolean')
    return { ...labels, type, ...(typeof current === 'boolean' && { default: current }) };
  if (type !== 'number' && type !== 'integer') return undefined;
  if (typeof current === 'number' && slackNumber(current) === undefined) return undefined;
  const isWhole = schema.type === 'integer' && (current === undefined || Number.isInteger(current));
  return {
    ...labels,
    type: isWhole ? 'integer' : 'number',
    ...(typeof current === 'number' && { default: current }),
  };
}

function labelsIn(schema: Record<string, unknown>) {
  const title = textIn(schema.title);
  const description = textIn(schema.description);
  return { ...(title && { title }), ...(description && { description }) };
}

function initialText({ way, current }: EditableArgument): string {
  if (current === undefined) return '';
  return way.type === 'text' ? String(current) : jsonText(current);
}

function fitsInput(argument: EditableArgument): boolean {
  return argument.way.type === 'field' || initialText(argument).length <= SLACK_MAX.text;
}

/** Pointers of the arguments that are always masked. They are found in one walk, because a server may choose a large schema. */
function secretsAmong(names: readonly string[], inputSchema: unknown): readonly string[] {
  const given = Object.fromEntries(names.map((name) => [name, 'x']));
  const { masked, fault } = maskArguments(given, inputSchema);
  return fault === undefined ? masked : names.map((name) => pointerOf([name]));
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'string');
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}
