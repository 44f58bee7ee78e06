import { randomBytes } from 'node:crypto';
import { bucketOfElicitationId } from '@parley/shared/domain/ids';

// In no elicitation id.
const SEPARATOR = '.';

/** The attempt of a person we know: one per question, so that whoever waits for the answer finds what it brought. */
export function knownFlowId(elicitationId: string): string {
  return elicitationId;
}

/** An attempt of nobody knows whom: one of its own each, so that none takes the place of another. */
export function unknownFlowId(elicitationId: string): string {
  return `${elicitationId}${SEPARATOR}${randomBytes(16).toString('base64url')}`;
}

/** True for an attempt of which nobody has said yet whose it was. */
export function isUnknownFlow(flowId: string): boolean {
  return flowId.includes(SEPARATOR);
}

/** The question of an attempt; nothing when it is no attempt of ours. */
export function elicitationOfFlow(flowId: string): string | undefined {
  const id = flowId.split(SEPARATOR)[0] ?? '';
  return bucketOfElicitationId(id) === undefined ? undefined : id;
}
