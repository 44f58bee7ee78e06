const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const [LIST, LIST_END, OBJECT, OBJECT_END] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Lists and objects, one in the other, that are read of what others send: readers of JSON descend into each of them. */
export const LEVELS_MAX = 100;
/** What stands in the place of what is nested more deeply. */
export const LEFT_OUT = '(left out: nested too deeply)';

/**
 * The JSON of a message without what is nested too deeply, so that the rest of the message can be used. Everything that
 * servers and agents send passes here before it is parsed. Other text stays as it is, or is no JSON afterwards either.
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

/** Whether nothing of it is nested too deeply. */
export function isWithinDepth(json: string): boolean {
  return limitDepth(json) === json;
}

/** The place of the quote that ends the text which begins at `start`. */
function endOfText(json: string, start: number): number {
  for (let at = json.indexOf('"', start + 1); at >= 0; at = json.indexOf('"', at + 1)) {
    let before = at - 1;
    while (json.charCodeAt(before) === BACKSLASH) before -= 1;
    const isEscaped = (at - 1 - before) % 2 === 1;
    if (!isEscaped) return at;
  }
  return json.length;
}
