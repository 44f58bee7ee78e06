import type { StreamRef } from '@parley/core/domain/ids';
import { retryWhileUnavailable } from '@parley/shared/async/retry-while-unavailable';
import type { ClientReply, ClientResult, ClientServices } from '@parley/shared/domain/runs/client-request';
import { type ClientRequests, clientRequestId } from '@parley/shared/elicitations/asking/client-requests';
import { sha256 } from '@parley/shared/records/digest';
import { belongsToAnotherPod } from '@parley/shared/runs/interruption';
import { type ClientAsk, ClientRefused } from '../../mcp/questions/client-ask.ts';
import type { ToolCall } from '../../run/tool.ts';

/** The client of a turn, which provides some services to servers itself. */
export interface TurnClient {
  readonly services: ClientServices;
  /** The stream on which the client is asked. */
  readonly stream: StreamRef;
}

/** The place of a request. On every pod, the same place and the same request lead to one ask. */
interface ClientAskPlace {
  readonly ordinal: number;
  readonly timeoutSeconds: number;
  /** Aborted when the server withdraws its request. */
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
    // The reply reaches only this pod, so the pod keeps the turn.
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
      // If this pod gives up the run, the next owner waits for the same reply, so the request stays open.
      if (!belongsToAnotherPod(signal)) await close(call, id, reply !== undefined);
    }
    return resultOf(reply);
  };

  async function close(
    { toolCallId, appendEvent }: ToolCall,
    id: string,
    isAnswered: boolean,
  ): Promise<void> {
    // If Redis stays unavailable, the deadline ends the request. A run that can no longer write ends by itself.
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
