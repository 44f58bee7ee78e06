import type { RememberFor } from '@parley/core/domain/approvals/approval';
import { RISKS } from '@parley/core/domain/approvals/risk';
import { Tags } from '@parley/core/domain/tags';
import { z } from 'zod';
import { compileRule } from './argument-rule.ts';

const RULE_CHARACTERS_MAX = 2_000;
const HINTS = ['destructive', 'open_world'] as const;

const Rule = z
  .string()
  .min(1)
  .max(RULE_CHARACTERS_MAX)
  .superRefine((text, context) => {
    try {
      compileRule(text);
    } catch (error) {
      const [reason = ''] = String((error as Error).message).split('\n');
      context.addIssue({ code: 'custom', message: `is no rule of CEL: ${reason}` });
    }
  });

/** When a person must approve calls. */
export const ApprovalEntry = z
  .strictObject({
    ask: z
      .enum(['never', 'always', 'when'])
      .describe('`never`, `always`, or `when` the rule holds or a hint is given.'),
    rule: Rule.optional().describe(
      'With `ask: when`: an expression in CEL over `args`, the arguments of the call, such as `args.amount > 100`. A rule that cannot be evaluated counts as true.',
    ),
    hints: z
      .array(z.enum(HINTS))
      .min(1)
      .optional()
      .describe(
        'With `ask: when`: the annotations of the tool that demand an approval. A tool without annotations counts as destructive and open.',
      ),
    remember: z
      .string()
      .regex(/^(never|conversation|([1-9]|[1-9][0-9]|[12][0-9]{2}|3[0-5][0-9]|36[0-5]) days?)$/, {
        error: 'must be `never`, `conversation`, or a number of days such as `7 days` (365 at most)',
      })
      .default('never')
      .describe(
        'How long a person may have their approval remembered: `never`, `conversation`, or a time such as `7 days`.',
      ),
    risk: z
      .enum(RISKS)
      .optional()
      .describe(
        'How much harm a wrong decision can do. Equal calls of `low` and `medium` can be decided together in the hosted inbox.',
      ),
    tags: Tags.optional(),
  })
  .superRefine(({ ask, rule, hints, risk, tags }, context) => {
    const refuse = (key: string, message: string) =>
      context.addIssue({ code: 'custom', path: [key], message });
    if (ask === 'when' && rule === undefined && hints === undefined)
      refuse('ask', 'requires `rule` or `hints` with the value `when`');
    if (ask !== 'when' && rule !== undefined) refuse('rule', 'is only for `ask: when`');
    if (ask === 'never' && risk !== undefined) refuse('risk', 'needs calls that are approved');
    if (ask === 'never' && tags !== undefined) refuse('tags', 'needs calls that are approved');
    if (ask !== 'when' && hints !== undefined) refuse('hints', 'is only for `ask: when`');
  })
  .describe('When a person must approve a call before it is made.');
export type ApprovalEntry = z.infer<typeof ApprovalEntry>;

/** How long this entry lets Parley remember an approval. */
export function rememberFor({ remember }: ApprovalEntry): RememberFor | undefined {
  if (remember === 'never') return undefined;
  return remember === 'conversation' ? remember : { days: Number.parseInt(remember, 10) };
}
