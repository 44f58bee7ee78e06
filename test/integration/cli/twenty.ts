import { ask, step, type WorkflowRequest } from '@parley/sdk/workflow';
import { KINDS, type KindCase } from '../../harness/cli/kinds.ts';

/** What the world outside sees of the effects: a receiver that counts each key once. */
export type Effects = (key: string) => void;

/**
 * A workflow of twenty questions of all kinds and four effects. Those of the second half are asked by a workflow within it,
 * and the last two of them by one within that.
 */
export function* twenty(effects: Effects): Generator<WorkflowRequest, readonly unknown[], unknown> {
  const answers: unknown[] = [];
  for (const [at, { ask: asked }] of KINDS.entries()) {
    answers.push(yield* ask(asked));
    if (at % 5 === 4) answers.push(yield* step(`effect-${at}`, ({ key }) => effect(effects, key, at)));
  }
  answers.push(...(yield* again(effects, 0, KINDS.length - NESTED)));
  return answers;
}

const NESTED = 2;

function* again(
  effects: Effects,
  from: number,
  to: number,
): Generator<WorkflowRequest, readonly unknown[], unknown> {
  const answers: unknown[] = [];
  for (let at = from; at < to; at += 1) {
    const { ask: asked } = KINDS[at] as KindCase;
    answers.push(yield* ask({ ...asked, description: `Once more ${at}.` }));
    if (at % 5 === 4) answers.push(yield* step(`again-${at}`, ({ key }) => effect(effects, key, at)));
  }
  if (to < KINDS.length) answers.push(...(yield* again(effects, to, KINDS.length)));
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
