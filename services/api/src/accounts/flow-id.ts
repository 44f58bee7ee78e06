import { randomBytes } from 'node:crypto';
import { bucketOfElicitationId } from '@parley/core/domain/ids';

// Elicitation ids never contain this character.
const SEPARATOR = '.';

/** The id of an attempt by a known person. Each question has one such id, so that its waiters find the credential. */
export function knownFlowId(elicitationId: string): string {
  return elicitationId;
}

/** The id of an attempt by a person who is not yet known. Each attempt has its own id, so that none replaces another. */
export function unknownFlowId(elicitationId: string): string {
  return `${elicitationId}${SEPARATOR}${randomBytes(16).toString('base64url')}`;
}

/** True for an attempt by a person who is not yet known. */
export function isUnknownFlow(flowId: string): boolean {
  return flowId.includes(SEPARATOR);
}

/** The question of an attempt; undefined when the id is malformed. */
export function elicitationOfFlow(flowId: string): string | undefined {
  const id = flowId.split(SEPARATOR)[0] ?? '';
  return bucketOfElicitationId(id) === undefined ? undefined : id;
}
