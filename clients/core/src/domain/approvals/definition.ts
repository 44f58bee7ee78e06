import { z } from 'zod';
import type { RecordDefinition } from '../family.ts';
import { type ApprovalTool, Arguments, type RememberFor } from './approval.ts';
import type { Risk } from './risk.ts';
import { DECISIONS } from './status.ts';

/** The call that waits for its approval. It is set at creation and never changes. */
export interface ApprovalDefinition extends RecordDefinition {
  readonly toolCallId: string;
  readonly step: string;
  /** The title of the asking agent, and its configured id. */
  readonly agent: string;
  readonly agentId: string;
  readonly tool: ApprovalTool;
  /** The arguments with secret values masked; an approval never contains a secret. */
  readonly arguments: Arguments;
  readonly masked: readonly string[];
  readonly inputSchema?: Readonly<Record<string, unknown>>;
  readonly remember?: RememberFor;
  readonly risk?: Risk;
  /** Labels by which operators find the approval. */
  readonly tags?: readonly string[];
  /** The name of the rule that required the approval. A remembered approval applies only to this rule. */
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
  /** The service key that withdrew the approval, for logs. */
  key: z.string().optional(),
});
export type ApprovalSettlement = z.infer<typeof ApprovalSettlement>;
