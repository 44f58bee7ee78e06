import { jsonIn } from '@parley/core/domain/parsed';
import { isRecord } from '@parley/core/domain/plain-record';
import { isWithinDepth } from '@parley/shared/domain/json/depth';

// The start of a text or a number. Each is read to its end before the next is searched.
const BEGINNING = /["\d-]/g;
const NUMBER = /-?\d[\d.eE+-]*/y;

/**
 * Why the arguments of a call cannot be passed on as the model wrote them: they are not a JSON object, are nested too deeply,
 * or contain a number that JavaScript would change. The model reads this and corrects the call. Undefined for usable arguments,
 * and for text that is not JSON, which the SDK reports.
 */
export function faultOfArguments(toolName: string, json: string): string | undefined {
  if (json.trim() === '') return undefined;
  if (!isWithinDepth(json)) return `The arguments of ${toolName} are nested too deeply. Nothing was done.`;
  const value = jsonIn(json);
  if (value === undefined) return undefined;
  if (!isRecord(value)) return `The arguments of ${toolName} must be a JSON object. Nothing was done.`;
  const changed = changedNumber(json);
  return changed === undefined
    ? undefined
    : `The number ${changed.slice(0, 40)} in the arguments of ${toolName} cannot be passed on exactly. Nothing was done; write it with fewer digits, or as a text if the tool takes one.`;
}

/** The first number in a JSON text that parsing would change; undefined if there is none. */
function changedNumber(json: string): string | undefined {
  BEGINNING.lastIndex = 0;
  for (let found = BEGINNING.exec(json); found !== null; found = BEGINNING.exec(json)) {
    if (found[0] === '"') {
      BEGINNING.lastIndex = endOfText(json, found.index);
      continue;
    }
    NUMBER.lastIndex = found.index;
    const [token = ''] = NUMBER.exec(json) ?? [];
    if (isChanged(token)) return token;
    BEGINNING.lastIndex = found.index + token.length;
  }
  return undefined;
}

/** The position after a string of valid JSON that begins at `start`. */
function endOfText(json: string, start: number): number {
  let at = start + 1;
  while (json[at] !== '"') at += json[at] === '\\' ? 2 : 1;
  return at + 1;
}

function isChanged(token: string): boolean {
  // A number of at most 15 digits is printed as it was read.
  if (token.length <= 15 && !/[eE]/.test(token)) return false;
  return digitsOf(token) !== digitsOf(String(Number(token)));
}

/** A number as its significant digits and the power of ten of the last digit, so that equal numbers give equal texts. */
function digitsOf(token: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(token) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = withoutLastZeros(digits);
  if (significant === '') return whole === '' ? token : '0';
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}

function withoutLastZeros(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  return digits.slice(0, end);
}
