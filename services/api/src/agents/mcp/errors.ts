import { SdkError, SdkErrorCode, UnauthorizedError } from '@modelcontextprotocol/client';
import type { McpUnauthorized } from './results.ts';
import type { McpRevision } from './server-config.ts';

/** The server refused the credential. Extends the SDK's error, because the SDK's probe treats any other as an outage. */
export class CredentialRefused extends UnauthorizedError {
  readonly refusal: McpUnauthorized;

  constructor(refusal: McpUnauthorized) {
    super('the server refused the credential');
    this.refusal = refusal;
  }
}

/** A message was larger than `messageBytesMax` and was not read to its end. */
export class MessageTooLarge extends SdkError {
  constructor() {
    super(SdkErrorCode.InvalidResult, 'message too large');
  }
}

/** The server asked too many questions in one call, so the call was ended. */
export class TooManyQuestions extends SdkError {
  constructor(questionsMax: number) {
    super(SdkErrorCode.InvalidResult, `More than ${questionsMax} questions in one call.`);
  }
}

/** The server redirected to an origin that is not configured. */
export class ForeignOrigin extends Error {
  constructor() {
    super('another origin');
  }
}

/** The server no longer knows the session, and may have executed the request. The cause is the error of that request. */
export class SessionLost extends Error {
  constructor(cause: unknown) {
    super('the session was lost', { cause });
  }
}

/** A server of 2025-11-25 over HTTP keeps no session. */
export class NoSession extends Error {
  constructor() {
    super('no session');
  }
}

/** The server does not accept the only revision that may be used. The cause is the error of the attempt. */
export class RevisionRefused extends Error {
  readonly serverId: string;
  readonly revision: McpRevision;

  constructor(serverId: string, revision: McpRevision, cause: unknown) {
    super('the server does not accept the revision', { cause });
    this.serverId = serverId;
    this.revision = revision;
  }
}
