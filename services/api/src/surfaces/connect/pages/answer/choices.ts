import type { MultiSelectField, SelectField, TitledSelectField } from '@parley/shared/domain/forms/value';

/** One choice of a select: `value` is answered, `label` is shown. */
export interface Choice {
  readonly value: string;
  readonly label: string;
}

/** The choices of a select, in their order. */
export function choicesOf(field: SelectField | TitledSelectField | MultiSelectField): readonly Choice[] {
  if (field.type === 'array') {
    const { items } = field;
    return 'enum' in items ? items.enum.map(untitled) : items.anyOf.map(titled);
  }
  if ('oneOf' in field) return field.oneOf.map(titled);
  return field.enum.map((value, at) => ({ value, label: field.enumNames?.[at] || value }));
}

function untitled(value: string): Choice {
  return { value, label: value };
}

function titled({ const: value, title }: { readonly const: string; readonly title: string }): Choice {
  return { value, label: title || value };
}
