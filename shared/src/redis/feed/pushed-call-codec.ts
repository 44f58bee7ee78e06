import { parsed } from '@parley/core/domain/parsed';
import { PushedCall } from '../../domain/a2a/pushed-call.ts';

/** Reads a message of a channel of pushes; nothing for one that this version does not understand. */
export const decodePushedCall = (message: string): PushedCall | undefined => parsed(PushedCall, message);
