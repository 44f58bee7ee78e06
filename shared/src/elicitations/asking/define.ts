/**
 * Checks everything about a question before it is stored, so that each surface refuses the same faults with the same words.
 * Claims, ids and the commit are in `ask.ts`.
 */

import { type AskInput, TIMEOUT_SECONDS_DEFAULT } from '@parley/core/domain/elicitations/ask-input';
import type { Context } from '@parley/core/domain/elicitations/elicitation';
import { ParleyError } from '@parley/core/domain/errors';
import { checkFormAnswer } from '@parley/core/domain/forms/answer';
import { checkFormSchema, type FormSchema, type FormSchemaOptions } from '@parley/core/domain/forms/schema';
import type { Issue } from '@parley/core/domain/issue';
import { tagsOf } from '@parley/core/domain/tags';
import { faultOfProse } from '@parley/core/domain/text';
import { faultOfUrl } from '@parley/core/domain/url';
import { visible, visibleLabels, visibleTexts } from '@parley/core/domain/visible';
import type { Definition } from '../../domain/elicitations/row.ts';
import { faultOfWebhook, type WebhookSettings } from '../../domain/webhooks/rules.ts';
import type { EngineSettings } from '../../records/deps.ts';

const CONTEXT_BYTES_MAX = 8 * 1024;

/**
 * Turns the input of an ask into a definition, or throws `invalid_request` with every fault found. Invisible characters are
 * removed from texts for people; bidirectional overrides and control characters are faults. A url question without `url` is for
 * Parley's own connect page, whose address `withPageUrl` adds once the id is known.
 */
export function define(
  settings: EngineSettings & WebhookSettings,
  tenant: string,
  input: AskInput & { readonly streamRequestId: string },
  options: FormSchemaOptions = {},
): Definition {
  const issues: Issue[] = [];
  const note = (path: string, fault: string | undefined) => {
    if (fault !== undefined) issues.push({ path, message: fault });
  };
  const context = input.context ?? { trigger: 'agent' };
  const message = visible(input.message);
  note('message', faultOfProse(input.message, settings.messageCharactersMax));
  if (message === '') note('message', 'must not be empty');
  note('context', faultOfContext(context));
  note('webhookUrl', faultOfWebhook(settings, tenant, input));
  const asked =
    input.mode === 'form'
      ? formPart(settings, input, issues, options)
      : urlPart(settings, input, context, note);
  if (issues.length > 0) {
    throw new ParleyError('invalid_request', 'The question is not well formed; see errors.', { issues });
  }
  return {
    tenant,
    userId: input.userId,
    streamRequestId: input.streamRequestId,
    conversationId: input.conversationId ?? input.streamRequestId,
    mode: input.mode,
    message,
    ...(input.title !== undefined && { title: visible(input.title) }),
    ...(input.description !== undefined && { description: visible(input.description) }),
    ...asked,
    ...(input.sensitive === true && { sensitive: true as const }),
    ...(input.risk !== undefined && { risk: input.risk }),
    ...(input.webhookUrl !== undefined && { webhookUrl: input.webhookUrl }),
    context: visibleTexts(context),
    ...tagsOf(input),
    timeoutSeconds: input.timeoutSeconds ?? TIMEOUT_SECONDS_DEFAULT,
  };
}

/** The definition, plus the address of the hosted page that the person opens, if there is one. */
export function withPageUrl(
  { connectBaseUrl, answerBaseUrl }: EngineSettings,
  definition: Definition,
  { id, onAnswerPage }: { readonly id: string; readonly onAnswerPage: boolean },
): Definition {
  if (definition.mode === 'form')
    return onAnswerPage && answerBaseUrl !== undefined
      ? { ...definition, answerUrl: `${answerBaseUrl}${id}` }
      : definition;
  return definition.url === undefined && connectBaseUrl !== undefined
    ? { ...definition, url: `${connectBaseUrl}${id}` }
    : definition;
}

/**
 * Cards display the context, so its names and values, nested ones included, must follow the rules for texts that people read.
 */
function faultOfContext(context: Context): string | undefined {
  // JSON escapes control characters, so the check reads the names and values themselves.
  const texts: string[] = [];
  const json = JSON.stringify(context, (name, value: unknown) => {
    texts.push(name);
    if (typeof value === 'string') texts.push(value);
    return value;
  });
  if (Buffer.byteLength(json) > CONTEXT_BYTES_MAX)
    return `must be at most ${CONTEXT_BYTES_MAX} bytes of JSON`;
  return texts.map((text) => faultOfProse(text, CONTEXT_BYTES_MAX)).find((fault) => fault !== undefined);
}

type Note = (path: string, fault: string | undefined) => void;

function formPart(
  settings: EngineSettings,
  input: AskInput,
  issues: Issue[],
  options: FormSchemaOptions,
): Partial<Definition> {
  const note = (path: string, message: string) => issues.push({ path, message });
  if (input.url !== undefined) note('url', 'goes with mode url only');
  if (input.completion !== undefined) note('completion', 'goes with mode url only');
  if (input.requestedSchema === undefined) {
    note('requestedSchema', 'is required in form mode');
    return {};
  }
  const caps = { jsonBytes: settings.schemaBytesMax, properties: settings.schemaPropertiesMax };
  const checked = checkFormSchema(input.requestedSchema, caps, options);
  if (!checked.ok) {
    for (const issue of checked.issues) note(joined('requestedSchema', issue.path), issue.message);
    return {};
  }
  const fallback = fallbackPart(input, checked.schema, issues);
  return { requestedSchema: visibleLabels(checked.schema), ...fallback };
}

function fallbackPart(input: AskInput, schema: FormSchema, issues: Issue[]): Partial<Definition> {
  if (input.onUnavailable === undefined) return {};
  const checked = checkFormAnswer(schema, input.onUnavailable.content);
  if (checked.ok) return { onUnavailable: { content: checked.content } };
  for (const issue of checked.issues) {
    issues.push({
      path: joined('onUnavailable.content', issue.path),
      message: issue.message,
    });
  }
  return {};
}

function urlPart(
  settings: EngineSettings,
  input: AskInput,
  context: Context,
  note: Note,
): Partial<Definition> {
  if (input.requestedSchema !== undefined) note('requestedSchema', 'goes with mode form only');
  if (input.onUnavailable !== undefined) note('onUnavailable', 'goes with mode form only');
  if (input.url === undefined) {
    if (settings.connectBaseUrl === undefined || context.toolId === undefined)
      note('url', 'is required in url mode, but for a context.toolId that Parley has a connect page for');
    if (input.completion === 'client') note('completion', 'must be server for the connect page of Parley');
    return { completion: 'server' };
  }
  note('url', faultOfUrl(input.url, settings));
  return { url: input.url, completion: input.completion ?? 'client' };
}

function joined(path: string, rest: string): string {
  return rest === '' ? path : `${path}.${rest}`;
}
