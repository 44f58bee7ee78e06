import { createHash } from 'node:crypto';

/** The id of a message of a call. A message that is sent again has the same id, from any pod. */
export function messageIdOf(callKey: string, ...place: readonly (string | number)[]): string {
  return `parley-${digestOf([callKey, ...place]).slice(0, 40)}`;
}

export function digestOf(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
