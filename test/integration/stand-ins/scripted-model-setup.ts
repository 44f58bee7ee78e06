import OpenAI from 'openai';
import { afterEach } from 'vitest';
import {
  type ScriptedModel,
  type ScriptedModelOptions,
  startScriptedModel,
} from '../../../infra/demo/stand-ins/scripted-model/scripted-model.ts';

const running: ScriptedModel[] = [];

/** Starts a scripted model until the end of the test, with the client of OpenAI pointed at it. */
export async function startModel(options: ScriptedModelOptions) {
  const model = await startScriptedModel(options);
  running.push(model);
  const client = new OpenAI({
    baseURL: model.url,
    apiKey: options.apiKey ?? 'any',
    maxRetries: 0,
    logLevel: 'off',
  });
  return { model, client };
}

/** To be called once by every file that starts models. */
export function stopModelsAfterEach(): void {
  afterEach(async () => {
    await Promise.all(running.splice(0).map((model) => model.stop()));
  });
}
