import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { Model } from '../../config/file.ts';
import type { LoadedAgentsConfig } from '../../config/load.ts';
import { type ChatEvents, createChatEvents } from './chat-events.ts';
import { createModelFetch } from './model-fetch.ts';
import type { ChatModel } from './streamed-model.ts';

/** Makes the client of a model. */
export function createLanguageModel(
  model: Model,
  { secretOf, usesProxy }: Pick<LoadedAgentsConfig, 'secretOf' | 'usesProxy'>,
): ChatModel {
  const apiKey = model.apiKeyEnv === undefined ? undefined : secretOf(model.apiKeyEnv);
  const settings = (eventsOf?: () => ChatEvents) => ({
    fetch: createModelFetch({ timeouts: model.timeouts, usesProxy, eventsOf }),
    ...(apiKey !== undefined && { apiKey }),
  });
  switch (model.provider) {
    case 'openai-compatible':
      return createOpenAICompatible({
        name: 'openai-compatible',
        baseURL: model.baseUrl,
        includeUsage: true,
        ...settings(createChatEvents),
      })(model.model);
    case 'openai':
      return createOpenAI({ ...settings(), ...baseOf(model.baseUrl) })(model.model);
    case 'anthropic':
      return createAnthropic({ ...settings(), ...baseOf(model.baseUrl) })(model.model);
  }
}

function baseOf(baseURL: string | undefined) {
  return { ...(baseURL !== undefined && { baseURL }) };
}
