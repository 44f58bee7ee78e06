import { ChatOpenAI, type ChatOpenAIFields } from '@langchain/openai';
import type OpenAI from 'openai';

/** LangChain's client at the same place as this one of OpenAI, for the same person. */
export function langChainLike({ apiKey, baseURL }: OpenAI, fields: ChatOpenAIFields): ChatOpenAI {
  return new ChatOpenAI({ apiKey: apiKey ?? '', maxRetries: 0, configuration: { baseURL }, ...fields });
}
