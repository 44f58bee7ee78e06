import type { ServerRefusal } from './results.ts';

/**
 * The server refused a request. This is the cause of the error that the caller gets. It is separate from the SDK's errors,
 * because pods without agents do not load the SDK.
 */
export class RefusedByServer extends Error {
  readonly refusal: ServerRefusal;

  constructor(refusal: ServerRefusal) {
    super('the server refused the request');
    this.refusal = refusal;
  }
}
