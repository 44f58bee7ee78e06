import { ask, step, type WorkflowRequest } from '@parley/sdk/workflow';
import { KINDS } from './kinds.ts';

/** What the world outside sees of the effects: a receiver that counts each key once. */
export type Effects = (key: string) => void;

/** A workflow of twenty questions of all kinds, those of the second half in a workflow of its own, and four effects. */
export function* twenty(effects: Effects): Generator<WorkflowRequest, readonly unknown[], unknown> {
  const answers: unknown[] = [];
  for (const [at, { ask: asked }] of KINDS.entries()) {
    answers.push(yield* ask(asked));
    if (at % 5 === 4) answers.push(yield* step(`effect-${at}`, ({ key }) => effect(effects, key, at)));
  }
  answers.push(...(yield* again(effects)));
  return answers;
}

function* again(effects: Effects): Generator<WorkflowRequest, readonly unknown[], unknown> {
  const answers: unknown[] = [];
  for (const [at, { ask: asked }] of KINDS.entries()) {
    answers.push(yield* ask({ ...asked, description: `Once more ${at}.` }));
    if (at % 5 === 4) answers.push(yield* step(`again-${at}`, ({ key }) => effect(effects, key, at)));
  }
  return answers;
}

function effect(effects: Effects, key: string, at: number): { readonly at: number } {
  effects(key);
  return { at };
}

/** What the workflow returns when every question is answered as its case says. */
export function expectedOfTwenty(): readonly unknown[] {
  const once = KINDS.flatMap(({ value }, at) => (at % 5 === 4 ? [value, { at }] : [value]));
  return [...once, ...once];
}
