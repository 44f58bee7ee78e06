import { z } from 'zod';
import { envName, token, url } from './words.ts';

const shared = {
  model: token(200, 'The provider’s name for the model.'),
  temperature: z
    .number()
    .min(0)
    .max(2)
    .optional()
    .describe('From 0 to 2. Absent: the default of the provider.'),
  maxOutputTokens: z
    .int()
    .min(1)
    .max(1_000_000)
    .optional()
    .describe('Maximum tokens of one reply. Absent: the default of the provider.'),
};

const CompatibleModel = z
  .strictObject({
    provider: z.literal('openai-compatible'),
    baseUrl: url('URL of the endpoint, without `/chat/completions`.'),
    apiKeyEnv: envName('Variable that holds the API key. Absent: no key is sent.').optional(),
    ...shared,
  })
  .describe('Any endpoint with the chat completions protocol.');

const NamedModel = z
  .strictObject({
    provider: z.enum(['openai', 'anthropic']),
    baseUrl: url("URL of a gateway. Absent: the provider's own address.").optional(),
    apiKeyEnv: envName('Variable that holds the API key.'),
    ...shared,
  })
  .describe('A named provider.');

/** A language model: its provider and its settings. */
export const Model = z.discriminatedUnion('provider', [CompatibleModel, NamedModel]);
