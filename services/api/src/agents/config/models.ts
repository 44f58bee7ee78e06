import { z } from 'zod';
import { envName, token, url } from './words.ts';

const shared = {
  model: token(200, 'What the provider calls the model.'),
  temperature: z.number().min(0).max(2).optional().describe('From 0 to 2; absent: the provider decides.'),
  maxOutputTokens: z
    .int()
    .min(1)
    .max(1_000_000)
    .optional()
    .describe('Most tokens of one reply; absent: the provider decides.'),
};

const CompatibleModel = z
  .strictObject({
    provider: z.literal('openai-compatible'),
    baseUrl: url('Where the endpoint is, up to and without `/chat/completions`.'),
    apiKeyEnv: envName('Variable that holds the API key; absent: none is sent.').optional(),
    ...shared,
  })
  .describe('Any endpoint that speaks the chat completions protocol.');

const NamedModel = z
  .strictObject({
    provider: z.enum(['openai', 'anthropic']),
    baseUrl: url("A gateway to go through; absent: the provider's own address.").optional(),
    apiKeyEnv: envName('Variable that holds the API key.'),
    ...shared,
  })
  .describe('A provider by its name.');

/** A language model: who serves it and how it is called. */
export const Model = z.discriminatedUnion('provider', [CompatibleModel, NamedModel]);
