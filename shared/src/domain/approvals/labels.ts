/** Last words of members that name what another member of the same object holds, and of those that hold it. */
const LABELS = new Set(['name', 'key', 'header', 'field', 'parameter', 'param', 'variable', 'property', 'k']);
const VALUES = new Set(['value', 'values', 'val', 'v']);

/** What the members of an object name: `{name: 'Authorization', value}`, `{ParameterKey: 'DbPassword', ParameterValue}`. */
export function labelsOf(holder: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(holder).filter(([name]) => LABELS.has(lastWord(name))));
}

/** Whether a member holds what another member of its object names. */
export function isLabelled(name: string): boolean {
  return VALUES.has(lastWord(name));
}

function lastWord(name: string): string {
  const words = name.split(/[^A-Za-z]+|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/).filter(Boolean);
  return (words.at(-1) ?? '').toLowerCase();
}
