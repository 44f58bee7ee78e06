import type { CompletionHead, OpenAiFinish, OpenAiUsage } from '../../turns/completion.ts';

export interface OpenAiError {
  readonly error: {
    readonly message: string;
    readonly type: OpenAiErrorType;
    /** The invalid field. */
    readonly param: string | null;
    readonly code: string;
  };
}

export type OpenAiErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'permission_error'
  | 'rate_limit_error'
  | 'server_error';

export interface ChatCompletionChunk extends CompletionHead {
  readonly object: 'chat.completion.chunk';
  readonly choices: readonly {
    readonly index: 0;
    readonly delta: { readonly role?: 'assistant'; readonly content?: string };
    readonly finish_reason: OpenAiFinish | null;
  }[];
  readonly usage?: OpenAiUsage | null;
  /** Present in the first chunk, for callers that understand envelopes. Every envelope of the stream contains this nonce. */
  readonly parley?: { readonly nonce: string };
}

/** A turn's error in OpenAI's format. `message` may be shown to people. */
export function openAiError(code: string, message: string): OpenAiError {
  return { error: { message, type: 'server_error', param: null, code } };
}
