import type { RememberFor } from '@parley/core/domain/approvals/approval';
import type { Risk } from '@parley/core/domain/approvals/risk';
import { tagsOf } from '@parley/core/domain/tags';
import { sha256 } from '@parley/shared/records/digest';
import { type ApprovalEntry, rememberFor } from '../../config/approval.ts';
import { type ArgumentRule, compileRule } from '../../config/argument-rule.ts';
import type { Agent, McpServer } from '../../config/file.ts';
import type { McpTool, McpToolHints } from '../../mcp/results.ts';

/** Decides which calls of a tool a person must approve. */
export interface ApprovalPolicy {
  /** The name of the rule. A remembered approval applies only to calls under the same name. */
  readonly rule: string;
  readonly remember: RememberFor | undefined;
  readonly risk?: Risk;
  readonly tags?: readonly string[];
  demands(args: Readonly<Record<string, unknown>>, hints: McpToolHints): boolean;
}

/** The policy for a tool: the first that is configured of the tool's own, its server's and the calling agent's. */
export function policyOf(
  server: McpServer,
  agent: Pick<Agent, 'approval'> | undefined,
  tool: Pick<McpTool, 'name'>,
): ApprovalPolicy | undefined {
  const ofTool = Object.hasOwn(server.toolApprovals, tool.name) ? server.toolApprovals[tool.name] : undefined;
  const entry = ofTool ?? server.approval ?? agent?.approval;
  return entry === undefined || entry.ask === 'never' ? undefined : policyFrom(entry);
}

const policies = new WeakMap<ApprovalEntry, ApprovalPolicy>();

/** Compiles the rule once, although tools are listed for every step. */
function policyFrom(entry: ApprovalEntry): ApprovalPolicy {
  const known = policies.get(entry);
  if (known !== undefined) return known;
  const { ask, rule, hints = [] } = entry;
  const holds: ArgumentRule | undefined = rule === undefined ? undefined : compileRule(rule);
  const policy: ApprovalPolicy = {
    rule: sha256(JSON.stringify([ask, rule ?? null, [...hints].sort()])),
    remember: rememberFor(entry),
    ...(entry.risk !== undefined && { risk: entry.risk }),
    ...tagsOf(entry),
    demands(args, { readOnlyHint, destructiveHint, openWorldHint }) {
      if (ask === 'always') return true;
      if (hints.includes('destructive') && destructiveHint && !readOnlyHint) return true;
      if (hints.includes('open_world') && openWorldHint) return true;
      return holds?.(args) === true;
    },
  };
  policies.set(entry, policy);
  return policy;
}
