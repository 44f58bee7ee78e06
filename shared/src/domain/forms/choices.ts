import type { FormOption } from './value.ts';

/** One choice of a select: `value` is answered, `label` is shown. */
export interface Choice {
  readonly value: string;
  readonly label: string;
}

/** What offers choices: a select, or the items of a multi select. */
export type Offering =
  | { readonly enum: readonly string[]; readonly enumNames?: readonly string[] }
  | { readonly oneOf: readonly FormOption[] }
  | { readonly anyOf: readonly FormOption[] };

/** The choices that are offered, in their order. */
export function choicesOf(offered: Offering): Choice[] {
  if ('enum' in offered) {
    return offered.enum.map((value, at) => ({ value, label: offered.enumNames?.[at] || value }));
  }
  const options = 'oneOf' in offered ? offered.oneOf : offered.anyOf;
  return options.map(({ const: value, title }) => ({ value, label: title || value }));
}
