import { type PlannedCall, planOf } from './plan.ts';
import type { Script, ScriptedReply, Turn } from './script.ts';
import { failureOf, sentenceOf } from './sentences.ts';

/**
 * The demo's story: an agent that looks after issues, hands tasks to other agents and asks its person. What it does
 * follows from the last user message alone:
 *
 * | the person says | the model does |
 * |---|---|
 * | list my issues · show issue 2 · close issue 2 · create an issue "Title" | calls that tool of the issue tracker |
 * | ask the tracker agent to "list my issues" | hands the quoted task to that agent |
 * | ask me for the environment · a secret · a confirmation · a form | calls `elicit` |
 * | count to 40 | counts, for a long answer |
 * | anything else | lists what it can do |
 *
 * Clauses joined by `and` are called in parallel, those after `then` in the next step; quoted text is never taken
 * apart. After the results it writes one sentence for each, with the message of a tool that failed.
 */
export function demoScript(): Script {
  return [act, count, chat];
}

function act(turn: Turn): ScriptedReply | undefined {
  const steps = planOf(turn);
  if (steps.length === 0) return undefined;
  if (turn.results.some(failureOf)) return report(turn);
  let answered = 0;
  for (const step of steps) {
    if (turn.results.length <= answered) return callOrTell(step, turn);
    answered += step.length;
  }
  return report(turn);
}

/** Calls a step's tools, or says for which parts there is no tool. */
function callOrTell(step: readonly PlannedCall[], turn: Turn): ScriptedReply {
  const calls = step.flatMap(({ call }) => call ?? []);
  if (calls.length === step.length) return { calls };
  const missing = step.flatMap(({ call, purpose }) => (call === undefined ? [purpose] : []));
  return {
    text: [...turn.results.map(sentenceOf), `I have no tool to ${missing.join(' or to ')}.`].join(' '),
  };
}

function report({ results }: Turn): ScriptedReply {
  return { text: results.map(sentenceOf).join(' ') };
}

const NUMBERS_MAX = 20_000;

function count({ userText }: Turn): ScriptedReply | undefined {
  const to = /\bcount to (\d{1,6})\b/i.exec(userText)?.[1];
  if (to === undefined) return undefined;
  return {
    text: Array.from({ length: Math.min(Number(to), NUMBERS_MAX) }, (_, index) => index + 1).join(' '),
  };
}

function chat({ tools }: Turn): ScriptedReply {
  const names = tools.map(({ name }) => name).join(', ');
  return {
    text: `I am a scripted model: my lines are fixed. Try "list my issues" or "create an issue". My tools: ${names || 'none'}.`,
  };
}
