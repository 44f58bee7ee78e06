import type { Arguments } from '@parley/core/domain/approvals/approval';
import { isRecord } from '@parley/core/domain/plain-record';

// Characters that are invisible, or that change the order in which others are displayed.
const UNSEEN = /[^\P{C}\n]|[\p{DI}\u2028\u2029]/gu;

/** Arguments as lines of text, complete: no character is hidden, and no value can look like another argument. */
export function argumentsText(given: Arguments): string {
  return Object.entries(given)
    .map(([name, value]) => `${visible(nameText(name))}: ${visible(valueText(value))}`)
    .join('\n');
}

/** A value as readable JSON. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? 'null';
}

function nameText(name: string): string {
  return /^[\w.-]+$/u.test(name) ? name : JSON.stringify(name);
}

function valueText(value: unknown): string {
  if (typeof value === 'string' && value.includes('\n')) return `\n${indented(value)}`;
  if ((Array.isArray(value) && value.length > 0) || (isRecord(value) && Object.keys(value).length > 0))
    return jsonText(value);
  return JSON.stringify(value) ?? 'null';
}

/** A text of several lines, each of which is marked as part of it. */
function indented(text: string): string {
  return text
    .split('\n')
    .map((line) => `  | ${line}`)
    .join('\n');
}

function visible(text: string): string {
  return text.replace(UNSEEN, (character) =>
    [...character].map((each) => `\\u{${(each.codePointAt(0) ?? 0).toString(16)}}`).join(''),
  );
}
