/** The sentences of the demo's model about the results of tools. Which tools are called is decided in `plan.ts`. */

import { z } from 'zod';
import type { ToolResult } from './script.ts';

const Issue = z.looseObject({ number: z.int(), title: z.string(), state: z.string() });
const Issues = z.looseObject({ issues: z.array(Issue) });
const OneIssue = z.looseObject({ issue: Issue });
const Answered = z.looseObject({ status: z.literal('accepted'), answer: z.unknown() });

const Referenced = z.looseObject({ status: z.literal('accepted'), reference: z.string() });

type Wording = (payload: unknown) => string | undefined;

/** The sentences about tools' results. A tool of the tracker whose result does not have the expected form has failed. */
const WORDINGS: Readonly<Record<string, { readonly did: Wording; readonly failed: string }>> = {
  list_issues: {
    did: (payload) => {
      const read = Issues.safeParse(payload);
      if (!read.success) return undefined;
      const { issues } = read.data;
      if (issues.length === 0) return 'You have no open issues.';
      const titles = issues.map(({ number, title }) => `#${number} ${title}`).join(', ');
      return `You have ${issues.length} open ${issues.length === 1 ? 'issue' : 'issues'}: ${titles}.`;
    },
    failed: 'I could not list your issues',
  },
  create_issue: {
    did: one(({ number, title }) => `I created issue #${number}: ${title}.`),
    failed: 'I could not create the issue',
  },
  get_issue: {
    did: one(({ number, title, state }) => `Issue #${number} is ${state}: ${title}.`),
    failed: 'I could not read the issue',
  },
  close_issue: {
    did: one(({ number, title }) => `I closed issue #${number}: ${title}.`),
    failed: 'I could not close the issue',
  },
};

/** One sentence about the result of a tool. */
export function sentenceOf(result: ToolResult): string {
  const wording = wordingOf(result);
  const answer = answerIn(result);
  if (isReference(result)) return 'I have it by a reference only: neither I nor this chat has seen it.';
  if (answer !== undefined) return `You answered: ${answer}.`;
  if (result.name === 'elicit') return explained(result.text);
  if (wording === undefined) return `${speakerOf(result.name)} says: ${brief(result.text)}`;
  return wording.did(payloadOf(result.text)) ?? `${wording.failed}. ${explained(result.text)}`;
}

/** True for a tool of the tracker that failed. */
export function failureOf(result: ToolResult): boolean {
  const wording = wordingOf(result);
  return wording !== undefined && wording.did(payloadOf(result.text)) === undefined;
}

function speakerOf(tool: string): string {
  const agent = /^delegate_to_(.+)$/.exec(tool)?.[1];
  return agent === undefined ? tool : `The agent ${agent}`;
}

/** The person's answer to a question of the model. */
function answerIn({ name, text }: ToolResult): string | undefined {
  const read = name === 'elicit' ? Answered.safeParse(payloadOf(text)) : undefined;
  if (read?.success !== true) return undefined;
  const { answer } = read.data;
  if (typeof answer !== 'object' || answer === null) return spoken(answer);
  return Object.entries(answer)
    .map(([name, value]) => `${name} ${spoken(value)}`)
    .join(', ');
}

function spoken(value: unknown): string {
  return typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value);
}

/** A secret that the person entered on a hosted page. */
function isReference({ name, text }: ToolResult): boolean {
  return name === 'elicit' && Referenced.safeParse(payloadOf(text)).success;
}

function wordingOf({ name }: ToolResult) {
  const key = Object.keys(WORDINGS).find((known) => name === known || new RegExp(`[_-]${known}$`).test(name));
  return key === undefined ? undefined : WORDINGS[key];
}

function one(say: (issue: z.infer<typeof Issue>) => string): Wording {
  return (payload) => {
    const read = OneIssue.safeParse(payload);
    return read.success ? say(read.data.issue) : undefined;
  };
}

/** The JSON in a result's text, either plain or in the content of an MCP tool result. */
function payloadOf(text: string): unknown {
  const whole = parsed(text);
  if (typeof whole !== 'object' || whole === null) return undefined;
  if ('isError' in whole && whole.isError === true) return undefined;
  const content = Array.isArray(whole) ? whole : 'content' in whole ? whole.content : undefined;
  if (!Array.isArray(content)) return whole;
  return parsed(
    content.map((part: { text?: unknown }) => (typeof part?.text === 'string' ? part.text : '')).join(''),
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A failure's message for the person, without the part that is only for the model. */
function explained(text: string): string {
  const sentences = brief(text).match(/[^.!?]+[.!?]*/g) ?? [];
  return sentences
    .map((sentence) => sentence.trim())
    .filter((sentence) => !/^(?:Do not|This is neither)\b/.test(sentence))
    .join(' ')
    .replace(/\bThe user\b/g, 'You');
}

const LENGTH_MAX = 600;

function brief(text: string): string {
  return text.length <= LENGTH_MAX ? text : `${text.slice(0, LENGTH_MAX)}…`;
}
