import { Elicitation } from '@parley/core/domain/elicitations/elicitation';
import { ACTIONS, MODES, STATUSES } from '@parley/core/domain/elicitations/status';
import { Tags, tagsOf } from '@parley/core/domain/tags';
import { type Row, toWire } from '@parley/shared/domain/elicitations/row';
import { z } from 'zod';

const Time = z.iso.datetime();

/** A question as an operator sees it: who, when, why and how it ended, without its texts. */
export const AdminElicitation = z
  .object({
    elicitationId: z.string(),
    userId: z.string(),
    streamRequestId: z.string(),
    conversationId: z.string(),
    mode: z.enum(MODES),
    sensitive: z.boolean().optional(),
    trigger: z.string(),
    toolId: z.string().optional(),
    toolName: z.string().optional(),
    agent: z.string().optional().describe('The agent whose turn asked.'),
    tags: Tags.optional(),
    askedBy: z.string().optional().describe('The service key that asked.'),
    status: z.enum(STATUSES),
    action: z.enum(ACTIONS).optional(),
    reason: z.string().optional().describe('Why it was withdrawn.'),
    surface: z.string().optional().describe('Where it was settled.'),
    createdAt: Time,
    expiresAt: Time,
    settledAt: Time.optional(),
    elicitation: Elicitation.optional().describe(
      'The whole question with its answer, for keys with the scope `read_content`. An answer to a `sensitive` question is left out.',
    ),
  })
  .meta({ id: 'AdminElicitation' });
export type AdminElicitation = z.infer<typeof AdminElicitation>;

/** The fields to show are listed, so that no text of people or models is shown without the scope. */
export function elicitationView(
  row: Row,
  {
    now,
    agent,
    content,
  }: { readonly now: number; readonly agent: string | undefined; readonly content: boolean },
): AdminElicitation {
  const { definition, settlement = {} } = row;
  const { context, sensitive, askedBy } = definition;
  return {
    elicitationId: row.id,
    userId: definition.userId,
    streamRequestId: definition.streamRequestId,
    conversationId: definition.conversationId,
    mode: definition.mode,
    ...(sensitive !== undefined && { sensitive }),
    trigger: context.trigger,
    ...(context.toolId !== undefined && { toolId: context.toolId }),
    ...(context.toolName !== undefined && { toolName: context.toolName }),
    ...(agent !== undefined && { agent }),
    ...tagsOf(definition),
    ...(askedBy !== undefined && { askedBy }),
    status: row.status,
    ...(settlement.action !== undefined && { action: settlement.action }),
    ...(settlement.reason !== undefined && { reason: settlement.reason }),
    ...(settlement.surface !== undefined && { surface: settlement.surface }),
    createdAt: new Date(row.createdAt).toISOString(),
    expiresAt: new Date(row.expiresAt).toISOString(),
    ...(row.settledAt !== undefined && { settledAt: new Date(row.settledAt).toISOString() }),
    ...(content && { elicitation: toWire(row, { now, content: sensitive !== true }) }),
  };
}
