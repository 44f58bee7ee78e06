/**
 * Derives the controls of a form from its schema, once for all surfaces, so that labels, order and presets never differ.
 * Drawing a control, and checking its value, are elsewhere.
 */

import { isRecord } from '../plain-record.ts';
import { readable, readableLine } from '../readable.ts';
import { TEXT_FORMATS, type TextFormat } from './formats.ts';
import {
  ANSWER_TEXT_MAX,
  type FormField,
  type FormValue,
  type NumberField,
  type Offering,
  optionsOf,
} from './value.ts';

/** A text that may be longer than this gets several lines. Most schemas without bounds ask for a name or a word. */
const LINE_MAX = 200;

/** One choice of a select: the answer contains `value`, and the person sees `label`. */
export interface FormChoice {
  readonly value: string;
  readonly label: string;
}

export type ControlKind = 'text' | TextFormat | 'number' | 'integer' | 'boolean' | 'select' | 'multi';

/** One field of a form as a person sees it. All its texts are safe to show. */
export interface FormControl {
  readonly kind: ControlKind;
  /** The property's name. It may be `__proto__`: use it as a key of Maps, never of plain objects. */
  readonly name: string;
  /** The title on one line, or the name if there is none; both if another field has the same title. */
  readonly label: string;
  readonly description: string | undefined;
  readonly isRequired: boolean;
  /**
   * The preset, from `default`. An untouched input answers it unchanged on every surface. An optional field never has an empty
   * text or list as its preset, because an input could not distinguish that from no answer.
   */
  readonly initial: FormValue | undefined;
  /** The choices of a select or multi select, in order. A boolean has none; each surface has its own words for it. */
  readonly choices: readonly FormChoice[];
  /** The minimum and the maximum: of a number, of the characters (code points) of a text, or of the number of choices. */
  readonly least?: number | undefined;
  readonly most?: number | undefined;
  /** Whether a text has several lines: only if its bounds or its default require that. */
  readonly hasLines: boolean;
  readonly schema: FormField;
}

/**
 * The controls of a `requestedSchema`, in its order, as every surface draws them. Accepts any value. An unreadable field is
 * omitted, and the person then sees the server's error about it.
 */
export function controlsOf(requestedSchema: unknown): FormControl[] {
  const { properties, required } = isRecord(requestedSchema) ? requestedSchema : {};
  if (!isRecord(properties)) return [];
  const controls = Object.entries(properties).flatMap(([name, schema]) => {
    try {
      const isRequired = Array.isArray(required) && required.includes(name);
      return controlOf(name, isRequired, schema as FormField) ?? [];
    } catch {
      // An unknown schema may have any types, so reading it may throw.
      return [];
    }
  });
  return toldApart(controls, 'name');
}

function controlOf(name: string, isRequired: boolean, schema: FormField): FormControl | undefined {
  const { type, title, description, default: initial } = schema;
  const control = {
    name,
    label: nameOf(title, name),
    description: description ? readable(description) : undefined,
    isRequired,
    initial,
    choices: [],
    hasLines: false,
    schema,
  };
  switch (type) {
    case 'boolean':
      return { ...control, kind: type };
    case 'number':
    case 'integer':
      return { ...control, ...boundsOf(schema), kind: type };
    case 'array': {
      const { items, minItems, maxItems, default: preset } = schema;
      const choices = choicesOf(items);
      return {
        ...control,
        kind: 'multi',
        choices,
        // Sorting makes an untouched answer the same on every surface.
        initial: presetOf(isRequired, preset && inOrder(choices, preset)),
        least: minItems || undefined,
        most: maxItems,
      };
    }
    case 'string': {
      if ('enum' in schema || 'oneOf' in schema)
        return { ...control, kind: 'select', choices: choicesOf(schema) };
      const { format, minLength = 0, maxLength } = schema;
      if (format === 'date' || format === 'date-time') return { ...control, kind: format };
      if (format && !TEXT_FORMATS.includes(format)) return undefined;
      const most = maxLength && Math.min(maxLength, ANSWER_TEXT_MAX);
      const isLong = Math.max(minLength, maxLength ?? 0) > LINE_MAX || /[\r\n]/.test(schema.default ?? '');
      return {
        ...control,
        kind: format ?? 'text',
        initial: presetOf(isRequired, schema.default),
        least: minLength || undefined,
        most,
        hasLines: !format && isLong,
      };
    }
  }
}

function presetOf<Value extends string | readonly string[]>(isRequired: boolean, value: Value | undefined) {
  return isRequired || value?.length ? value : undefined;
}

/** Puts values in the order of the choices. */
export function inOrder(choices: readonly FormChoice[], values: readonly string[]): string[] {
  return choices.map(({ value }) => value).filter((value) => values.includes(value));
}

/** The bounds of a number. For an integer, they are rounded to integers. */
function boundsOf({ type, minimum, maximum }: NumberField) {
  return type === 'integer'
    ? { least: minimum && Math.ceil(minimum), most: maximum && Math.floor(maximum) }
    : { least: minimum, most: maximum };
}

function choicesOf(offered: Offering): FormChoice[] {
  const options =
    'enum' in offered
      ? offered.enum.map((value, at) => ({ const: value, title: offered.enumNames?.[at] }))
      : optionsOf(offered);
  return toldApart(
    options.map(({ const: value, title }) => ({ value, label: nameOf(title, value) })),
    'value',
  );
}

function nameOf(title = '', otherwise: string): string {
  return readableLine(title) || readableLine(otherwise) || '–';
}

/**
 * Makes equal labels different by adding the name or value that they stand for; if even that is equal, all get their position.
 */
function toldApart<Shown extends { readonly label: string } & Record<Key, string>, Key extends string>(
  all: Shown[],
  key: Key,
  // A second round is necessary, because an extended label may equal another title.
  rounds = 2,
  shown = all,
): Shown[] {
  const seen = new Set<string>();
  const alike = new Set<string>();
  for (const { label } of shown) (seen.has(label) ? alike : seen).add(label);
  if (alike.size === 0) return shown;
  if (rounds === 0) return all.map((one, at) => ({ ...one, label: `${at + 1}. ${one.label}` }));
  const longer = shown.map((one) =>
    alike.has(one.label) ? { ...one, label: `${one.label} (${readableLine(one[key])})` } : one,
  );
  return toldApart(all, key, rounds - 1, longer);
}
