import { randomUUID } from 'node:crypto';
import type { Owner } from '@parley/shared/domain/ids';
import { untilBack } from '@parley/shared/engine/outage';
import { createScrubOf } from './mcp/scrub.ts';
import type { Tool, ToolOutcome } from './tool.ts';

/** Secrets that people typed for one use by one tool. */
export interface Secrets {
  /**
   * The secret that was given to a question, for the tool it was asked for and a call of its owner's. Nobody but the
   * first `taker` gets it. Throws `unavailable` while the store is away.
   */
  redeem(request: SecretRequest): Promise<string | undefined>;
}

export interface SecretRequest {
  readonly owner: Owner;
  readonly elicitationId: string;
  /** The tool that wants it, as the model knows it. */
  readonly tool: string;
  /** Names the call that takes it; the same one may ask again. */
  readonly taker: string;
}

const PREFIX = 'parley-secret:';

/** What a model gets in a secret's place. */
export function referenceTo(elicitationId: string): string {
  return `${PREFIX}${elicitationId}`;
}

/** The tool, with the secrets that its arguments refer to put in their place just before it runs. */
export function redeeming(tool: Tool, secrets: Secrets, owner: Owner): Tool {
  return {
    ...tool,
    async call(call) {
      const references = [...new Set(referencesIn(call.input))];
      if (references.length === 0) return tool.call(call);
      await call.leaving();
      const values = new Map<string, string>();
      for (const reference of references) {
        const request = {
          owner,
          elicitationId: reference.slice(PREFIX.length),
          tool: tool.name,
          taker: randomUUID(),
        };
        const value = await untilBack(() => secrets.redeem(request), call.signal);
        if (value === undefined) return refused(reference);
        values.set(reference, value);
      }
      return withoutSecrets(await tool.call({ ...call, input: filled(call.input, values) }), [
        ...values.values(),
      ]);
    },
  };
}

function refused(reference: string): ToolOutcome {
  return {
    type: 'failed',
    message: `${reference} cannot be used here: a secret works once, with the tool it was asked for. Nothing was done; ask for it anew if it is still needed.`,
  };
}

function referencesIn(value: unknown): string[] {
  if (typeof value === 'string') return value.startsWith(PREFIX) ? [value] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(referencesIn);
}

function filled(value: unknown, values: ReadonlyMap<string, string>): unknown {
  if (typeof value === 'string') return values.get(value) ?? value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => filled(item, values));
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, filled(inner, values)]));
}

/** Servers repeat their arguments, in errors above all; a model must not read the secret there. */
function withoutSecrets(outcome: ToolOutcome, secrets: readonly string[]): ToolOutcome {
  const scrub = createScrubOf(secrets);
  if (outcome.type === 'failed') return { ...outcome, message: scrub.text(outcome.message) };
  return {
    ...outcome,
    output: scrub.value(outcome.output),
    ...(outcome.shown !== undefined && { shown: scrub.value(outcome.shown) }),
  };
}
