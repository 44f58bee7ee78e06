import type { Prompt } from '../handler.ts';

/** The message, followed by the faults of the last answer, for protocols that cannot name the field of a fault. */
export function messageWithFaults({ message, faults }: Prompt): string {
  return [message, ...faults.map(({ path, message: fault }) => `${path}: ${fault}`)].join('\n');
}
