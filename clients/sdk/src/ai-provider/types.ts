import type { LanguageModel } from 'ai';

/** A language model as versions 6 and 7 of `ai` accept it. */
export type ParleyModel = Extract<LanguageModel, { readonly specificationVersion: 'v3' }>;
export type ModelCall = Parameters<ParleyModel['doStream']>[0];
export type ModelResult = Awaited<ReturnType<ParleyModel['doGenerate']>>;
export type ModelStreamPart =
  Awaited<ReturnType<ParleyModel['doStream']>>['stream'] extends ReadableStream<infer Part> ? Part : never;
export type ModelWarning = ModelResult['warnings'][number];

/** A data part of a turn, in the form that `writer.write` of a UI message stream accepts. */
export interface ParleyDataPart {
  readonly type: `data-${string}`;
  readonly id?: string;
  readonly data: unknown;
  readonly transient?: boolean;
}
