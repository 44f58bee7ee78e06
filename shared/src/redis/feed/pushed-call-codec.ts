import { PushedCall } from '../../domain/a2a/pushed-call.ts';

/** Reads a message of a channel of pushes; nothing for one that this version does not understand. */
export function decodePushedCall(message: string): PushedCall | undefined {
  try {
    return PushedCall.safeParse(JSON.parse(message)).data;
  } catch {
    return undefined;
  }
}
