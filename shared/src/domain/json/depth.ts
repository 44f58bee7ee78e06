const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const [LIST, LIST_END, OBJECT, OBJECT_END] = [0x5b, 0x5d, 0x7b, 0x7d];

/** The maximum depth of lists and objects in received JSON, because many readers of JSON are recursive. */
export const LEVELS_MAX = 100;
/** Replaces a value that is nested too deeply. */
export const LEFT_OUT = '(left out: nested too deeply)';

/**
 * Replaces what is nested too deeply in the JSON of a message, so that the rest can be used. Everything that servers and agents
 * send passes here before it is parsed. Text that is not JSON is returned unchanged, or in another form that is not JSON
 * either.
 */
export function limitDepth(json: string): string {
  const kept: string[] = [];
  let from = 0;
  let depth = 0;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = endOfText(json, at);
    else if (code === LIST || code === OBJECT) {
      depth += 1;
      if (depth === LEVELS_MAX + 1) kept.push(json.slice(from, at), JSON.stringify(LEFT_OUT));
    } else if (code === LIST_END || code === OBJECT_END) {
      depth -= 1;
      if (depth === LEVELS_MAX) from = at + 1;
    }
  }
  if (kept.length === 0) return json;
  if (depth <= LEVELS_MAX) kept.push(json.slice(from));
  return kept.join('');
}

/** True when nothing in the JSON is nested too deeply. */
export function isWithinDepth(json: string): boolean {
  return limitDepth(json) === json;
}

/** The index of the closing quote of the string that begins at `start`. */
function endOfText(json: string, start: number): number {
  for (let at = json.indexOf('"', start + 1); at >= 0; at = json.indexOf('"', at + 1)) {
    let before = at - 1;
    while (json.charCodeAt(before) === BACKSLASH) before -= 1;
    const isEscaped = (at - 1 - before) % 2 === 1;
    if (!isEscaped) return at;
  }
  return json.length;
}
