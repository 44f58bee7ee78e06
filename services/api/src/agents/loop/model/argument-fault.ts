import { isWithinDepth } from '@parley/shared/domain/json/depth';
import { isRecord } from '@parley/shared/domain/plain-record';

// A whole text or a whole number; the alternatives begin with different characters, so that no text is read twice.
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

/**
 * Why the arguments of a call cannot be passed on as the model wrote them, for the model to write them otherwise:
 * they are no JSON object, are nested too deeply, or hold a number that JavaScript would change. Undefined where they can,
 * and for text that is no JSON, which the SDK reports.
 */
export function faultOfArguments(toolName: string, json: string): string | undefined {
  if (json.trim() === '') return undefined;
  if (!isWithinDepth(json)) return `The arguments of ${toolName} are nested too deeply. Nothing was done.`;
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return undefined;
  }
  if (!isRecord(value)) return `The arguments of ${toolName} must be a JSON object. Nothing was done.`;
  const changed = json.match(TOKENS)?.find((token) => !token.startsWith('"') && isChanged(token));
  return changed === undefined
    ? undefined
    : `The number ${changed.slice(0, 40)} in the arguments of ${toolName} cannot be passed on exactly. Nothing was done; write it as a text, if the tool takes one.`;
}

/** True for a number that is another one, or none, once it was read. */
function isChanged(token: string): boolean {
  const value = Number(token);
  if (!Number.isFinite(value)) return true;
  const [mantissa = '', exponent] = token.split(/[eE]/);
  if (value === 0) return /[1-9]/.test(mantissa);
  return exponent === undefined && Math.abs(value) > Number.MAX_SAFE_INTEGER;
}
