import { LOG_LEVELS } from '@parley/shared/domain/runs/turn-events';
import { z } from 'zod';
import type { RequestedRead } from '../content.ts';
import { RequestId } from '../json-rpc.ts';

/** A `tools/call`. The tool checks its arguments. */
export const ToolCallMessage = z.looseObject({
  id: RequestId,
  params: z.looseObject({
    name: z.string().min(1).max(256),
    arguments: z.record(z.string(), z.unknown()).default({}),
    _meta: z.looseObject({ progressToken: RequestId.optional() }).optional(),
  }),
});
export type ToolCallMessage = z.infer<typeof ToolCallMessage> & {
  /** Present for a read that is served as a call. */
  readonly read?: RequestedRead;
};

/** A read during which its server may ask. The SDK checks its parameters. */
export const ReadMessage = z.looseObject({
  id: RequestId,
  params: z.looseObject({ _meta: z.looseObject({ progressToken: RequestId.optional() }).optional() }),
});

export const InitializeMessage = z.looseObject({
  params: z.looseObject({ protocolVersion: z.string(), capabilities: z.looseObject({}) }),
});

export const SetLevelMessage = z.looseObject({
  id: RequestId,
  params: z.looseObject({ level: z.enum(LOG_LEVELS) }),
});

export const CancelledMessage = z.looseObject({
  params: z.looseObject({ requestId: RequestId, reason: z.string().optional() }),
});

/** A reply to a request of the server. */
export const ResponseMessage = z.looseObject({
  id: z.unknown(),
  result: z.unknown().optional(),
  error: z.unknown().optional(),
});
