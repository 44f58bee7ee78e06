// The characters at the beginning of a cell that make a spreadsheet take it for a formula, including wide forms that some
// programs accept.
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/u;
const QUOTED = /[",\r\n]|^\s|\s$/u;

/** One CSV record (RFC 4180). A cell that a spreadsheet would take for a formula gets a leading apostrophe. */
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
