import { EDITED_NOTE } from '@parley/shared/domain/approvals/outcome';
import { isRecord } from '@parley/shared/domain/plain-record';
import type { McpTool } from '../../mcp/calls/results.ts';
import { failed, type Tool, type ToolOutcome } from '../tool.ts';
import type { ApprovalPolicy } from './policy.ts';

export interface GateOptions {
  readonly policy: ApprovalPolicy;
  /** Id of the tool's server. */
  readonly server: string;
  readonly source: McpTool;
  readonly timeoutSeconds: number;
  /** True: the outcome is passed on unchanged, to a caller that is no model. */
  readonly whole?: boolean;
}

/**
 * Wraps a tool: a call that the policy names is made only after a person has approved it, with the arguments that they
 * have approved. Nothing is sent before: neither the call, nor a question of the tool.
 */
export function withApproval(
  tool: Tool,
  { policy, server, source, timeoutSeconds, whole = false }: GateOptions,
): Tool {
  return {
    ...tool,
    async call(call) {
      const args = isRecord(call.input) ? call.input : {};
      if (!policy.demands(args, source.hints)) return tool.call(call);
      const { hints, title } = source;
      const outcome = await call.approve({
        args,
        tool: {
          server,
          name: source.name,
          ...(title !== undefined && { title }),
          hints: {
            readOnly: hints.readOnlyHint,
            destructive: hints.destructiveHint && !hints.readOnlyHint,
            idempotent: hints.idempotentHint,
            openWorld: hints.openWorldHint,
          },
        },
        inputSchema: source.inputSchema,
        rule: policy.rule,
        remember: policy.remember,
        timeoutSeconds,
      });
      if (outcome.type === 'refused') return failed(outcome.message);
      const { input, isEdited } = outcome;
      if (!isEdited) return tool.call(call);
      const beforeDispatch = async () => {
        await call.beforeDispatch();
        return input;
      };
      const made = await tool.call({ ...call, input, beforeDispatch });
      return whole ? made : withNote(made);
    },
  };
}

function withNote(outcome: ToolOutcome): ToolOutcome {
  if (outcome.type === 'failed') return failed(`${EDITED_NOTE} ${outcome.message}`);
  return {
    ...outcome,
    output: { note: EDITED_NOTE, result: outcome.output },
    shown: outcome.shown ?? outcome.output,
  };
}
