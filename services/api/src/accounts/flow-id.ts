import { randomBytes } from 'node:crypto';
import { bucketOfElicitationId } from '@parley/core/domain/ids';

// No elicitation id contains it.
const SEPARATOR = '.';

/** The id of an attempt by a known person. There is one per question, so that its waiters find the credential. */
export function knownFlowId(elicitationId: string): string {
  return elicitationId;
}

/** The id of an attempt by a person who is not known yet. Each has its own, so that none replaces another. */
export function unknownFlowId(elicitationId: string): string {
  return `${elicitationId}${SEPARATOR}${randomBytes(16).toString('base64url')}`;
}

/** True for an attempt by a person who is not known yet. */
export function isUnknownFlow(flowId: string): boolean {
  return flowId.includes(SEPARATOR);
}

/** The question of an attempt; undefined when the id is malformed. */
export function elicitationOfFlow(flowId: string): string | undefined {
  const id = flowId.split(SEPARATOR)[0] ?? '';
  return bucketOfElicitationId(id) === undefined ? undefined : id;
}
