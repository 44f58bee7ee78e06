/** The kinds of fields, by the type names that agents use in lists of `{name, prompt, type, options}`. */
export const LISTED_KINDS = {
  text: 'text',
  string: 'text',
  choice: 'choice',
  select: 'choice',
  multi_choice: 'multi_choice',
  number: 'number',
  date: 'date',
  confirmation: 'confirmation',
  confirm: 'confirmation',
  boolean: 'confirmation',
  secret: 'secret',
  password: 'secret',
} as const;

/** A type name of a listed field. */
type ListedType = keyof typeof LISTED_KINDS;

/** All type names, in the order of the documentation. */
export const LISTED_TYPES = Object.keys(LISTED_KINDS) as readonly ListedType[];

/** True for a known type name. */
export function isListedType(type: string): type is ListedType {
  return Object.hasOwn(LISTED_KINDS, type);
}
