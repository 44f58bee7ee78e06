import { parsed } from '@parley/core/domain/parsed';
import { PushedCall } from '../../domain/a2a/pushed-call.ts';

/** Decodes a message about a pushed call; undefined for one that this version does not understand. */
export const decodePushedCall = (message: string): PushedCall | undefined => parsed(PushedCall, message);
