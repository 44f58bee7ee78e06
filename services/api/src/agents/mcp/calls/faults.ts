import { SdkError, SdkErrorCode, UnauthorizedError } from '@modelcontextprotocol/client';
import type { McpUnauthorized } from './results.ts';

/** The server wants another credential. Of the SDK's kind, or its probe would take it for an outage. */
export class CredentialRefused extends UnauthorizedError {
  readonly refusal: McpUnauthorized;

  constructor(refusal: McpUnauthorized) {
    super('the server refused the credential');
    this.refusal = refusal;
  }
}

/** A message was larger than `messageBytesMax`, and was not read to its end. */
export class MessageTooLarge extends SdkError {
  constructor() {
    super(SdkErrorCode.InvalidResult, 'message too large');
  }
}

/** The server led to an origin that nobody configured. */
export class ForeignOrigin extends Error {
  constructor() {
    super('another origin');
  }
}
