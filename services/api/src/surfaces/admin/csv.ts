// What a spreadsheet takes for a formula at the begin of a cell, and the wide forms that some programs take for the same.
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/u;
const QUOTED = /[",\r\n]|^\s|\s$/u;

/** One record of CSV (RFC 4180). No cell can begin a formula: such a one begins with an apostrophe. */
export function csvRecord(values: readonly unknown[]): string {
  return `${values.map(cellOf).join(',')}\r\n`;
}

function cellOf(value: unknown): string {
  if (value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const plain = FORMULA.test(text) ? `'${text}` : text;
  return QUOTED.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}
