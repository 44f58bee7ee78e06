/** The kinds of fields by the names that agents use for them in lists of `{name, prompt, type, options}`. */
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

/** A name of the type of a listed field. */
type ListedType = keyof typeof LISTED_KINDS;

/** All names of types, in the order of the documentation. */
export const LISTED_TYPES = Object.keys(LISTED_KINDS) as readonly ListedType[];

/** True for a known name of a type. */
export function isListedType(type: string): type is ListedType {
  return Object.hasOwn(LISTED_KINDS, type);
}
