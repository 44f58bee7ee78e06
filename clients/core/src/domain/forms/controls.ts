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

/** A text that may have more characters gets several lines. Most schemas without bounds ask for a name or a word. */
const LINE_MAX = 200;

/** One choice of a select: `value` is answered, `label` is shown. */
export interface FormChoice {
  readonly value: string;
  readonly label: string;
}

export type ControlKind = 'text' | TextFormat | 'number' | 'integer' | 'boolean' | 'select' | 'multi';

/** One field of a form as a person meets it. All its texts are safe to show. */
export interface FormControl {
  readonly kind: ControlKind;
  /** The property's name. It may be `__proto__`: use it as a key of Maps, never of plain objects. */
  readonly name: string;
  /** The title on one line, or else the name; both where another field has the same title. */
  readonly label: string;
  readonly description: string | undefined;
  readonly isRequired: boolean;
  /**
   * The value before the person does anything, from `default`: every reader answers it as it is where its input still is as
   * it was drawn. An optional field has no empty text or list, which its input could not tell from no answer.
   */
  readonly initial: FormValue | undefined;
  /** The choices of a select or multi select, in their order. The words of a boolean are the surface's own. */
  readonly choices: readonly FormChoice[];
  /** The least and the most: of a number itself, of the characters (code points) of a text, of the choices of a list. */
  readonly least?: number | undefined;
  readonly most?: number | undefined;
  /** Whether a text gets several lines: only if its bounds or its default require that. */
  readonly hasLines: boolean;
  readonly schema: FormField;
}

/**
 * The controls of a `requestedSchema`, in its order, as every surface draws them. Accepts any value; an unreadable field is
 * omitted, so that the person sees the server's error about it.
 */
export function controlsOf(requestedSchema: unknown): FormControl[] {
  const { properties, required } = isRecord(requestedSchema) ? requestedSchema : {};
  if (!isRecord(properties)) return [];
  const controls = Object.entries(properties).flatMap(([name, schema]) => {
    try {
      const isRequired = Array.isArray(required) && required.includes(name);
      return controlOf(name, isRequired, schema as FormField) ?? [];
    } catch {
      // What is read of an unknown schema may have any type.
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
        // What nobody touched is answered in the same order on every surface.
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

/** The values among the choices, in their order. */
export function inOrder(choices: readonly FormChoice[], values: readonly string[]): string[] {
  return choices.map(({ value }) => value).filter((value) => values.includes(value));
}

/** The bounds of a number: those of a whole number are whole numbers. */
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

/** Labels that would be alike show what they stand for, too; where even that is alike, all show their position. */
function toldApart<Shown extends { readonly label: string } & Record<Key, string>, Key extends string>(
  all: Shown[],
  key: Key,
  // What one label becomes may be another's title.
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
