/**
 * Replaces references to secrets when a call is dispatched, and removes the secrets from its outcome. Asking for a secret is in
 * `secret-question.ts`.
 */

import type { Owner } from '@parley/core/domain/ids';
import { retryWhileUnavailable } from '@parley/shared/async/retry-while-unavailable';
import { createScrubFor } from '../mcp/scrub.ts';
import type { Tool, ToolOutcome } from '../run/tool.ts';

/** Secrets that people entered for one use by one tool. Both methods throw `unavailable` while the store is unavailable. */
export interface Secrets {
  /** True if a secret is stored for this call. It may still expire before `redeem`. */
  awaits(request: SecretRequest): Promise<boolean>;
  /**
   * The secret that answered a question, for a call of its owner to the tool that the question named. Only the first `taker`
   * gets it; the same taker may get it again when it repeats the call.
   */
  redeem(request: SecretRequest): Promise<string | undefined>;
}

interface SecretRequest {
  readonly owner: Owner;
  readonly elicitationId: string;
  /** The tool that uses it, by its name for models. */
  readonly tool: string;
  /** Key of the call that takes the secret. The same call may take it again. */
  readonly taker: string;
}

const PREFIX = 'parley-secret:';

/** The reference that a model gets instead of a secret. */
export function referenceTo(elicitationId: string): string {
  return `${PREFIX}${elicitationId}`;
}

/** Wraps a tool: references to secrets in its arguments are replaced by the secrets when the call is dispatched. */
export function withSecretsRedeemed(tool: Tool, secrets: Secrets, owner: Owner): Tool {
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
        return replaceReferences(call.input, byReference);
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

/** Redeems all secrets or none: if one is missing, the others stay usable. */
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

function replaceReferences(value: unknown, values: ReadonlyMap<string, string>): unknown {
  if (typeof value === 'string') return values.get(value) ?? value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => replaceReferences(item, values));
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, replaceReferences(inner, values)]),
  );
}

// Ordinary text may contain shorter values by chance. So a text that contains a shorter secret is removed completely.
const SCRUBBED_LENGTH_MIN = 8;
const OMITTED = 'The reply of the tool repeats the secret, so it is omitted.';

/**
 * Removes secrets from an outcome. Servers repeat their arguments, mostly in errors, and neither a model nor a page must read a
 * secret.
 */
function withoutSecrets(outcome: ToolOutcome, secrets: readonly string[]): ToolOutcome {
  const scrub = createScrubFor(secrets);
  const short = secrets.filter(({ length }) => length < SCRUBBED_LENGTH_MIN);
  const hasShort = (value: unknown) => {
    const json = JSON.stringify(value) ?? '';
    return short.some((secret) => json.includes(JSON.stringify(secret).slice(1, -1)));
  };
  const clean = (value: unknown) => (hasShort(value) ? OMITTED : scrub.value(value));
  const { page, ...told } = outcome;
  const shownPage = page !== undefined &&
    !hasShort(page.result) && { page: { ...page, result: scrub.value(page.result) } };
  if (told.type === 'failed') {
    const message = hasShort(told.message) ? OMITTED : scrub.text(told.message);
    return { ...told, message, ...shownPage };
  }
  return {
    ...told,
    output: clean(told.output),
    ...(told.shown !== undefined && { shown: clean(told.shown) }),
    ...shownPage,
  };
}
