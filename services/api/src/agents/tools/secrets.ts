import type { Owner } from '@parley/shared/domain/ids';
import { retryWhileUnavailable } from '@parley/shared/elicitations/retry-while-unavailable';
import { createScrubFor } from '../mcp/calls/scrub.ts';
import type { Tool, ToolOutcome } from './tool.ts';

/** Secrets that people typed for one use by one tool. Both throw `unavailable` while the store is away. */
export interface Secrets {
  /** Whether a secret is there for this call, as far as can be seen. */
  awaits(request: SecretRequest): Promise<boolean>;
  /**
   * The secret that was given to a question, for the tool it was asked for and a call of its owner's. Nobody but the
   * first `taker` gets it, and that one gets it again.
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

/** The tool, with the secrets that its arguments refer to put in their place as its call leaves. */
export function redeeming(tool: Tool, secrets: Secrets, owner: Owner): Tool {
  return {
    ...tool,
    async call(call) {
      const references = [...new Set(referencesIn(call.input))];
      if (references.length === 0) return tool.call(call);
      const requests = references.map((reference) => ({
        owner,
        elicitationId: reference.slice(PREFIX.length),
        tool: tool.name,
        taker: call.callKey,
      }));
      let values: Promise<readonly string[]> | undefined;
      const beforeDispatch = async () => {
        values ??= redeemAll(secrets, requests, call.signal);
        const byReference = new Map((await values).map((value, index) => [references[index] ?? '', value]));
        await call.beforeDispatch();
        return filled(call.input, byReference);
      };
      try {
        const outcome = await tool.call({ ...call, beforeDispatch });
        return withoutSecrets(outcome, (await values) ?? []);
      } catch (error) {
        if (error instanceof SecretRefusedError) return { type: 'failed', message: error.message };
        throw error;
      }
    },
  };
}

class SecretRefusedError extends Error {
  constructor(elicitationId: string) {
    super(
      `${referenceTo(elicitationId)} cannot be used here: a secret works once, with the tool it was asked for. Nothing was done; ask for it anew if it is still needed.`,
    );
    this.name = 'SecretRefusedError';
  }
}

/** All of them or none: what one could not be had for is no reason to use up the others. */
async function redeemAll(
  secrets: Secrets,
  requests: readonly SecretRequest[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  for (const request of requests) {
    if (!(await retryWhileUnavailable(() => secrets.awaits(request), signal)))
      throw new SecretRefusedError(request.elicitationId);
  }
  return Promise.all(
    requests.map(async (request) => {
      const value = await retryWhileUnavailable(() => secrets.redeem(request), signal);
      if (value === undefined) throw new SecretRefusedError(request.elicitationId);
      return value;
    }),
  );
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

// Ordinary text holds shorter ones by chance, so what repeats one is left out whole.
const SCRUBBED_LENGTH_MIN = 8;
const LEFT_OUT = 'The words of the tool repeat the secret, so they are left out.';

/** Servers repeat their arguments, in errors above all; a model must not read the secret there. */
function withoutSecrets(outcome: ToolOutcome, secrets: readonly string[]): ToolOutcome {
  const scrub = createScrubFor(secrets);
  const short = secrets.filter(({ length }) => length < SCRUBBED_LENGTH_MIN);
  const holdsShort = (value: unknown) => {
    const json = JSON.stringify(value) ?? '';
    return short.some((secret) => json.includes(JSON.stringify(secret).slice(1, -1)));
  };
  if (outcome.type === 'failed')
    return { ...outcome, message: holdsShort(outcome.message) ? LEFT_OUT : scrub.text(outcome.message) };
  const clean = (value: unknown) => (holdsShort(value) ? LEFT_OUT : scrub.value(value));
  return {
    ...outcome,
    output: clean(outcome.output),
    ...(outcome.shown !== undefined && { shown: clean(outcome.shown) }),
  };
}
