/** Checks the tools that a server lists, and drops those that no model may get. Fetching the pages is in `tool-pages.ts`. */

import { LEFT_OUT } from '@parley/shared/domain/json/depth';
import { z } from 'zod';
import type { McpLimits } from '../limits.ts';
import { type DropReason, type McpOffer, type McpTool, TASK_SUPPORTS } from '../results.ts';
import { hasValidParamHeaders } from '../transports/param-headers.ts';
import { metaForClients, visibilityOf } from '../visibility.ts';
import { modelToolName } from './tool-name.ts';

/** One page of `tools/list`. The schema is loose, so that one invalid tool does not invalidate the page. */
export const ToolPage = z.object({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });

const Hint = z.boolean().optional().catch(undefined);

const OfferedTool = z.object({
  name: z.string(),
  title: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  inputSchema: z.looseObject({ type: z.literal('object') }),
  outputSchema: z
    .looseObject({ type: z.literal('object') })
    .optional()
    .catch(undefined),
  annotations: z
    .object({
      title: z.string().optional().catch(undefined),
      readOnlyHint: Hint,
      destructiveHint: Hint,
      idempotentHint: Hint,
      openWorldHint: Hint,
    })
    .optional()
    .catch(undefined),
  execution: z
    .object({ taskSupport: z.enum(TASK_SUPPORTS).optional().catch(undefined) })
    .optional()
    .catch(undefined),
  _meta: z.unknown().optional(),
});

// The specification allows 128 characters. Unprintable characters must not reach a prompt.
const NAME = /^[\x21-\x7e]{1,128}$/;
const TITLE_MAX = 200;
const DROPPED_MAX = 1_000;
const NAME_SHOWN_MAX = 128;

interface OfferRules extends Pick<McpLimits, 'toolsMax' | 'descriptionMax' | 'schemaBytesMax'> {
  readonly serverId: string;
  /** True if arguments may have to be mirrored in headers. */
  readonly mirrorsParams: boolean;
}

/** Collects the tools that a server offers, one by one, and drops those that cannot be given to a model. */
export function createToolOffer(rules: OfferRules): { add(raw: unknown): void; done(): McpOffer } {
  const tools = new Map<string, McpTool>();
  const dropped: { name: string; reason: DropReason }[] = [];

  return {
    add: (raw) => {
      const tool = toolOf(raw, rules);
      const fault = 'reason' in tool ? tool.reason : listFault(tools, tool.name, rules.toolsMax);
      if (fault === undefined && 'hints' in tool) tools.set(tool.name, tool);
      else if (fault !== undefined && dropped.length < DROPPED_MAX)
        dropped.push({ name: tool.name.slice(0, NAME_SHOWN_MAX), reason: fault });
    },
    done: () => ({ type: 'tools', tools: [...tools.values()], dropped }),
  };
}

function listFault(
  tools: ReadonlyMap<string, McpTool>,
  name: string,
  toolsMax: number,
): DropReason | undefined {
  if (tools.has(name)) return 'same_name';
  return tools.size >= toolsMax ? 'too_many' : undefined;
}

function toolOf(raw: unknown, rules: OfferRules): McpTool | { name: string; reason: DropReason } {
  const name = nameOf(raw);
  if (name === undefined || !NAME.test(name)) return { name: name ?? '', reason: 'bad_name' };
  const parsed = OfferedTool.safeParse(raw);
  if (!parsed.success) return { name, reason: 'bad_schema' };
  const { inputSchema, outputSchema, annotations, description = '', execution, _meta } = parsed.data;
  const json = JSON.stringify(inputSchema);
  if (Buffer.byteLength(json) > rules.schemaBytesMax) return { name, reason: 'schema_too_large' };
  // A part of the tool that was too large was removed earlier, so its schema is incomplete.
  if (json.includes(LEFT_OUT)) return { name, reason: 'schema_too_deep' };
  if (rules.mirrorsParams && !hasValidParamHeaders(inputSchema)) return { name, reason: 'bad_schema' };
  const title = parsed.data.title ?? annotations?.title;
  const visibility = visibilityOf(_meta);
  const meta = metaForClients(_meta, visibility);
  return {
    name,
    modelName: modelToolName(rules.serverId, name),
    ...(title !== undefined && { title: title.slice(0, TITLE_MAX) }),
    description: shortened(description, rules.descriptionMax),
    inputSchema,
    ...(outputSchema !== undefined && isUsable(outputSchema, rules) && { outputSchema }),
    hints: {
      readOnlyHint: annotations?.readOnlyHint ?? false,
      destructiveHint: annotations?.destructiveHint ?? true,
      idempotentHint: annotations?.idempotentHint ?? false,
      openWorldHint: annotations?.openWorldHint ?? true,
    },
    visibility,
    ...(execution?.taskSupport !== undefined && { taskSupport: execution.taskSupport }),
    ...(meta !== undefined && { meta }),
  };
}

/** True if an output schema is small and flat enough. Otherwise it is removed, because the tool can be used without it. */
function isUsable(schema: object, { schemaBytesMax }: OfferRules): boolean {
  const json = JSON.stringify(schema);
  return Buffer.byteLength(json) <= schemaBytesMax && !json.includes(LEFT_OUT);
}

function nameOf(raw: unknown): string | undefined {
  const name = typeof raw === 'object' && raw !== null && 'name' in raw ? raw.name : undefined;
  return typeof name === 'string' ? name : undefined;
}

function shortened(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max - 1)}…` : text;
}
