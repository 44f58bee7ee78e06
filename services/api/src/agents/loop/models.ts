import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModel } from 'ai';
import type { Model } from '../config/file.ts';

/** The model of a configuration entry, ready to be called. `secretOf` gives the value of a variable it names. */
export function languageModelOf(model: Model, secretOf: (envName: string) => string): LanguageModel {
  const apiKey = model.apiKeyEnv === undefined ? undefined : secretOf(model.apiKeyEnv);
  const settings = { ...(apiKey !== undefined && { apiKey }) };
  switch (model.provider) {
    case 'openai-compatible':
      return createOpenAICompatible({
        name: 'openai-compatible',
        baseURL: model.baseUrl,
        includeUsage: true,
        ...settings,
      })(model.model);
    case 'openai':
      return createOpenAI({ ...settings, ...baseOf(model.baseUrl) })(model.model);
    case 'anthropic':
      return createAnthropic({ ...settings, ...baseOf(model.baseUrl) })(model.model);
  }
}

function baseOf(baseURL: string | undefined) {
  return { ...(baseURL !== undefined && { baseURL }) };
}
