import { isRecord } from '@parley/core/domain/plain-record';
import { tagsOf } from '@parley/core/domain/tags';
import { MASK, maskArguments } from '@parley/shared/domain/approvals/mask';
import { EDITED_NOTE, NOT_SHOWN_REFUSAL } from '@parley/shared/domain/approvals/outcome';
import type { McpTool } from '../../mcp/results.ts';
import type { ApprovalOutcome } from '../../run/needed-approval.ts';
import { failed, type Tool, type ToolCall, type ToolOutcome } from '../../run/tool.ts';
import type { ApprovalPolicy } from './policy.ts';

export interface GateOptions {
  readonly policy: ApprovalPolicy;
  /** Id of the tool's server. */
  readonly server: string;
  /** The server's title for people. */
  readonly serverTitle: string;
  readonly source: McpTool;
  readonly timeoutSeconds: number;
  /** True if the outcome is passed on unchanged, to a caller other than a model. */
  readonly whole?: boolean;
}

/**
 * Wraps a tool. A call that the policy names is made only after a person has approved it, and with the arguments that were
 * approved. Before that, neither the call nor a question of the tool is sent.
 */
export function withApproval(
  tool: Tool,
  { policy, server, serverTitle, source, timeoutSeconds, whole = false }: GateOptions,
): Tool {
  return {
    ...tool,
    shownInput(input) {
      if (!isRecord(input) || !policy.demands(input, source.hints)) return input;
      const { arguments: shown, fault } = maskArguments(input, source.inputSchema);
      return fault === undefined ? shown : MASK;
    },
    async call(call) {
      const args = call.input ?? {};
      if (!isRecord(args)) return failed(NOT_SHOWN_REFUSAL);
      if (!policy.demands(args, source.hints)) return tool.call(call);
      const { hints, title } = source;
      const outcome = await call.approve({
        args,
        tool: {
          server,
          serverTitle,
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
        ...(policy.risk !== undefined && { risk: policy.risk }),
        ...tagsOf(policy),
        timeoutSeconds,
      });
      return callAsDecided(tool, call, outcome, whole);
    },
  };
}

/** Makes a call as the person decided: not at all, unchanged, or with the arguments that they edited. */
export async function callAsDecided(
  tool: Tool,
  call: ToolCall,
  outcome: ApprovalOutcome,
  whole: boolean,
): Promise<ToolOutcome> {
  if (outcome.type === 'refused') return failed(outcome.message, outcome.endsTurn);
  const { input, isEdited } = outcome;
  if (!isEdited) return tool.call(call);
  const beforeDispatch = async () => {
    await call.beforeDispatch();
    return input;
  };
  const made = await tool.call({ ...call, input, beforeDispatch });
  return whole ? made : withNote(made);
}

function withNote(outcome: ToolOutcome): ToolOutcome {
  if (outcome.type === 'failed') return { ...outcome, message: `${EDITED_NOTE} ${outcome.message}` };
  return {
    ...outcome,
    output: { note: EDITED_NOTE, result: outcome.output },
    shown: outcome.shown ?? outcome.output,
  };
}
