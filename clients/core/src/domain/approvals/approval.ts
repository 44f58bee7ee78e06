import { z } from 'zod';
import { Tags } from '../tags.ts';
import { RISKS } from './risk.ts';
import { APPROVAL_STATUSES, DECISIONS } from './status.ts';

/** A tool's claims about itself. They come from the tool's server and prove nothing; absent ones are unknown. */
export const ToolHints = z
  .object({
    readOnly: z.boolean().optional(),
    destructive: z.boolean().optional(),
    idempotent: z.boolean().optional(),
    openWorld: z.boolean().optional(),
  })
  .describe("The tool's own account of what it can do (annotations of MCP).");
export type ToolHints = z.infer<typeof ToolHints>;

/** The tool of an approval. `name` is the name that the model uses. */
export const ApprovalTool = z.object({
  server: z.string(),
  serverTitle: z
    .string()
    .optional()
    .describe('How people know the server. Absent in records of older builds.'),
  name: z.string(),
  title: z.string().optional(),
  hints: ToolHints.optional(),
});
export type ApprovalTool = z.infer<typeof ApprovalTool>;

/** The maximum number of days for which an approval can be remembered. */
export const REMEMBER_DAYS_MAX = 365;

/** How long an approval can be remembered: for its conversation, or for a number of days. */
export const RememberFor = z.union([
  z.literal('conversation'),
  z.strictObject({ days: z.int().min(1).max(REMEMBER_DAYS_MAX) }),
]);
export type RememberFor = z.infer<typeof RememberFor>;

/** Arguments of a call by name. Secret values are replaced by `MASK`. */
export const Arguments = z.record(z.string(), z.unknown());
export type Arguments = z.infer<typeof Arguments>;

const Timestamp = z.iso.datetime().describe('ISO 8601, UTC');

/** The wire form of an approval. Only the asker and the owner get `editedArguments` and the `reason` of a denial. */
export const Approval = z
  .object({
    approvalId: z.string(),
    streamRequestId: z.string(),
    conversationId: z.string(),
    userId: z.string(),
    toolCallId: z.string().describe('The call as the events of its turn name it.'),
    step: z
      .string()
      .describe('Calls of one step have the same value and may be shown and approved together.'),
    agent: z.string().describe('Title of the agent that asks.'),
    tool: ApprovalTool,
    arguments: Arguments.describe('What will be sent; secret values are masked.'),
    masked: z.array(z.string()).describe('JSON pointers of the masked values. They cannot be edited.'),
    inputSchema: Arguments.optional().describe(
      'JSON Schema of the arguments; absent when they cannot be edited.',
    ),
    remember: RememberFor.optional().describe(
      'Present when an approval may be remembered, and for how long.',
    ),
    risk: z
      .enum(RISKS)
      .optional()
      .describe('How much harm a wrong decision can do; absent where the rule gives none.'),
    tags: Tags.optional(),
    status: z.enum(APPROVAL_STATUSES),
    decision: z.enum(DECISIONS).optional(),
    editedArguments: Arguments.optional(),
    remembered: z.boolean().optional(),
    reason: z.string().optional().describe('Why it was denied or withdrawn.'),
    createdAt: Timestamp,
    expiresAt: Timestamp,
    settledAt: Timestamp.optional(),
    settledBy: z.object({ surface: z.string() }).optional(),
    serverTime: Timestamp.describe('Time of this reply on the clock that decides deadlines.'),
  })
  .meta({ id: 'Approval' });
export type Approval = z.infer<typeof Approval>;
