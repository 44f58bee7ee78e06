import { createHash } from 'node:crypto';

/** The id of a message in a call. Any pod that sends the message again uses the same id. */
export function messageIdOf(callKey: string, ...place: readonly (string | number)[]): string {
  return `parley-${digestOf([callKey, ...place]).slice(0, 40)}`;
}

export function digestOf(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
