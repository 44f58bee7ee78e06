import type { ServerReply, ServerRequest } from './client-ask.ts';

/** Asks the person, or the person's client, on behalf of a server during one call. */
export interface McpAsker {
  /**
   * Asks, and resolves to the answer. The question counts before it is read, so refused ones count too. When `withdrawn` is
   * aborted, the question is withdrawn. Throws what `read` throws; QuestionRefused if the question cannot be asked;
   * ClientRefused if the client gives no result; TooManyQuestions if the call has used up its questions; and the reason of the
   * call's signal.
   */
  ask(read: () => ServerRequest, withdrawn: AbortSignal): Promise<ServerReply>;
  /**
   * Asks the person to visit pages that the server requires before it executes the call. Resolves to `done` when the call may
   * be repeated, or to a sentence that explains why not. `completed` resolves when the server reports that a page is finished,
   * and rejects when the signal of the call is aborted.
   */
  visit(
    pages: readonly RequiredPage[],
    completed: (elicitationId: string) => Promise<void>,
  ): Promise<Visited>;
}

/** A page of the error -32042 of the 2025 revision. */
export interface RequiredPage {
  readonly message: string;
  readonly url: string;
  readonly elicitationId: string;
}

export type Visited = 'done' | { readonly message: string };
