import { z } from 'zod';
import { count, envName, flag, token, url } from './value-types.ts';

/** How long a model may take, in seconds. Models that reason are silent for minutes. */
const ModelTimeouts = z
  .strictObject({
    firstByteSeconds: count([1_200, 1, 86_400], 'Until the first byte of a reply.'),
    silenceSeconds: count([1_200, 1, 86_400], 'Between two bytes of a reply.'),
    replySeconds: count([3_600, 1, 86_400], 'For a whole reply.'),
  })
  .prefault({})
  .describe(
    'How long the model may take. What is over ends the turn with an error; `turnTimeoutSeconds` holds, too.',
  );
export type ModelTimeouts = z.infer<typeof ModelTimeouts>;

/** The images that a model accepts. */
const ModelImages = z
  .strictObject({
    number: count(
      [8, 1, 100],
      'Images that the model gets with one request, those of earlier messages included, the newest first.',
    ),
    bytes: count([1_048_576, 1_000, 33_554_432], 'Bytes of these images together.'),
    urls: flag(
      false,
      '`true`: https addresses of images are passed on as they are. The provider of the model opens them, with its own access to networks; Parley never does.',
    ),
  })
  .describe(
    'The images (PNG, JPEG, GIF, WebP) that the model takes; `{}` for these limits. Absent: it takes none, and the person and the model are told what was left out.',
  );
export type ModelImages = z.infer<typeof ModelImages>;

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
  timeouts: ModelTimeouts,
  images: ModelImages.optional(),
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
