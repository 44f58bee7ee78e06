import type { ServerRefusal } from './results.ts';

/**
 * The server refused a request; the cause of the error that its caller gets. It stands apart from the errors of the SDK, which a pod
 * without agents does not load.
 */
export class RefusedByServer extends Error {
  readonly refusal: ServerRefusal;

  constructor(refusal: ServerRefusal) {
    super('the server refused the request');
    this.refusal = refusal;
  }
}
