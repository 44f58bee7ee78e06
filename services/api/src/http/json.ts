import { ParleyError } from '@parley/core/domain/errors';
import { jsonIn } from '@parley/core/domain/parsed';

const DEPTH_MAX = 32;
// The only key that changes what a copy of its object inherits. Other keys are data, even names of prototype members.
const POISONED_KEY = '__proto__';

/**
 * Parses a JSON body that may be hostile. It refuses input that JSON.parse accepts although no honest client sends it: nesting
 * bombs, duplicate keys, a key that reaches for prototypes, NUL, lone surrogates, numbers beyond a double. Throws
 * `invalid_request`.
 */
export function parseJson(text: string): unknown {
  const fault = faultOf(text);
  if (fault !== undefined) throw new ParleyError('invalid_request', `The body ${fault}.`);
  try {
    return JSON.parse(text);
  } catch {
    throw new ParleyError('invalid_request', 'The body is not valid JSON.');
  }
}

/** Finds a fault in one pass over the tokens, without recursion. JSON.parse reports plain syntax errors. */
function faultOf(text: string): string | undefined {
  /** The keys seen in each open object; undefined for an open array. */
  const open: (Set<string> | undefined)[] = [];
  // The pattern for a string always matches, if necessary up to the end of the text. If it could fail, it would be tried again
  // at each quote inside, which takes minutes for a body of escaped quotes.
  const tokens = /"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?$)|[{}[\]]|-?[0-9][0-9.eE+-]*/gs;
  for (let match = tokens.exec(text); match !== null; match = tokens.exec(text)) {
    const [token] = match;
    const first = token[0];
    let fault: string | undefined;
    if (first === '{') open.push(new Set());
    else if (first === '[') open.push(undefined);
    else if (first === '}' || first === ']') open.pop();
    else if (first === '"') fault = faultOfString(text, tokens.lastIndex, token, open.at(-1));
    else if (!Number.isFinite(Number(token))) fault = 'holds a number that no double can carry';
    if (open.length > DEPTH_MAX) fault = `is nested deeper than ${DEPTH_MAX} levels`;
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function faultOfString(
  text: string,
  end: number,
  token: string,
  keys: Set<string> | undefined,
): string | undefined {
  const value = token.includes('\\') ? (jsonIn(token) as string | undefined) : token.slice(1, -1);
  if (value === undefined) return undefined;
  if (value.includes('\u0000')) return 'holds a NUL character';
  if (!value.isWellFormed()) return 'holds a lone surrogate';
  if (keys === undefined || !isKey(text, end)) return undefined;
  if (value === POISONED_KEY) return `may not use the key ${value}`;
  if (keys.has(value)) return 'names a key twice in one object';
  keys.add(value);
  return undefined;
}

/** A string before a colon is a key; in an object, white space aside, nothing else can follow one. */
function isKey(text: string, end: number): boolean {
  let at = end;
  while (at < text.length && ' \t\r\n'.includes(text.charAt(at))) at += 1;
  return text[at] === ':';
}
