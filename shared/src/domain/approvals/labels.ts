/** Last words of member names that label another member of the same object, and of the members that are labelled. */
const LABELS = new Set(['name', 'key', 'header', 'field', 'parameter', 'param', 'variable', 'property', 'k']);
const VALUES = new Set(['value', 'values', 'val', 'v']);

/**
 * The labels in an object: the `name` of `{name: 'Authorization', value}`, the `ParameterKey` of `{ParameterKey: 'DbPassword',
 * ParameterValue}`.
 */
export function labelsOf(holder: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(holder).filter(([name]) => LABELS.has(lastWord(name))));
}

/** Whether the name is that of a member whose meaning another member of its object gives, such as `value`. */
export function isLabelled(name: string): boolean {
  return VALUES.has(lastWord(name));
}

function lastWord(name: string): string {
  const words = name.split(/[^A-Za-z]+|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/).filter(Boolean);
  return (words.at(-1) ?? '').toLowerCase();
}
