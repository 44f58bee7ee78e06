import type { StreamRef } from '@parley/core/domain/ids';
import { retryWhileUnavailable } from '@parley/shared/async/retry-while-unavailable';
import type { ClientReply, ClientResult, ClientServices } from '@parley/shared/domain/runs/client-request';
import { type ClientRequests, clientRequestId } from '@parley/shared/elicitations/asking/client-requests';
import { sha256 } from '@parley/shared/records/digest';
import { belongsToAnotherPod } from '@parley/shared/runs/interruption';
import { type ClientAsk, ClientRefused } from '../../mcp/questions/client-ask.ts';
import type { ToolCall } from '../../run/tool.ts';

/** The client of a turn, which does some things for servers itself. */
export interface TurnClient {
  readonly services: ClientServices;
  /** The stream on which it is asked. */
  readonly stream: StreamRef;
}

/** Where a request belongs. The same place and the same request are one, on every pod. */
interface ClientAskPlace {
  readonly ordinal: number;
  readonly timeoutSeconds: number;
  /** Aborted when the server takes its request back. */
  readonly withdrawn: AbortSignal;
}

/** Asks the client of a turn on behalf of a server. Throws ClientRefused, and the reason of the call's signal. */
export type AskClient = (call: ToolCall, ask: ClientAsk, place: ClientAskPlace) => Promise<ClientResult>;

const INTERNAL_ERROR = -32603;

export function createAskClient(requests: ClientRequests, { stream }: TurnClient): AskClient {
  return async (call, { method, params }, { ordinal, timeoutSeconds, withdrawn }) => {
    const { toolCallId, callKey, signal } = call;
    const place = JSON.stringify([callKey, ordinal, method, params]);
    const id = clientRequestId(sha256(place));
    // Only this pod waits for the reply, so it keeps the turn.
    const stopWork = call.work();
    let reply: ClientReply | undefined;
    try {
      const timeoutMs = timeoutSeconds * 1000;
      const begun = await retryWhileUnavailable(
        () => requests.begin({ id, stream, method, timeoutMs }),
        signal,
      );
      const { expiresAt, isOpen } = begun;
      const asked = { type: 'client-asked', toolCallId, requestId: id, method, params, expiresAt } as const;
      if (isOpen) await call.appendEvent(asked);
      reply = await call.waiting(() =>
        requests.wait({ id, stream, expiresAt }, AbortSignal.any([signal, withdrawn])),
      );
    } catch (error) {
      if (signal.aborted || !withdrawn.aborted) throw error;
      throw new ClientRefused('The request was taken back.', INTERNAL_ERROR);
    } finally {
      stopWork();
      // The next owner of a run that this pod gives up goes on waiting for the same reply.
      if (!belongsToAnotherPod(signal)) await close(call, id, reply !== undefined);
    }
    return resultOf(reply);
  };

  async function close(
    { toolCallId, appendEvent }: ToolCall,
    id: string,
    isAnswered: boolean,
  ): Promise<void> {
    // Its deadline ends it if Redis stays unavailable. A run that cannot write any more ends by itself.
    if (!isAnswered) await requests.end(stream, id).catch(() => undefined);
    await appendEvent({ type: 'client-ask-ended', toolCallId, requestId: id, isAnswered }).catch(
      () => undefined,
    );
  }
}

function resultOf(reply: ClientReply | undefined): ClientResult {
  if (reply === undefined) throw new ClientRefused('The client did not reply in time.', INTERNAL_ERROR);
  if ('error' in reply) throw new ClientRefused(reply.error.message, reply.error.code);
  return reply.result;
}
