import { z } from 'zod';
import type { RecordDefinition } from '../family.ts';
import { type ApprovalTool, Arguments, type RememberFor } from './approval.ts';
import type { Risk } from './risk.ts';
import { DECISIONS } from './status.ts';

/** The call that waits for its approval. It is set at creation and never changes. */
export interface ApprovalDefinition extends RecordDefinition {
  readonly toolCallId: string;
  readonly step: string;
  /** Title of the agent that asks, and its configured id. */
  readonly agent: string;
  readonly agentId: string;
  readonly tool: ApprovalTool;
  /** With secret values masked: an approval holds no secret. */
  readonly arguments: Arguments;
  readonly masked: readonly string[];
  readonly inputSchema?: Readonly<Record<string, unknown>>;
  readonly remember?: RememberFor;
  readonly risk?: Risk;
  /** Texts by which operators find the approval. */
  readonly tags?: readonly string[];
  /** Names the rule that demanded the approval; remembered approvals hold for this rule only. */
  readonly rule: string;
}

/** How an approval ended. The commit adds the time at which it ended. */
export const ApprovalSettlement = z.object({
  decision: z.enum(DECISIONS).optional(),
  /** The edited arguments, with secret values masked. */
  arguments: Arguments.optional(),
  reason: z.string().optional(),
  remember: z.boolean().optional(),
  responseId: z.string().optional(),
  surface: z.string().optional(),
  /** The service key that withdrew, for logs. */
  key: z.string().optional(),
});
export type ApprovalSettlement = z.infer<typeof ApprovalSettlement>;
