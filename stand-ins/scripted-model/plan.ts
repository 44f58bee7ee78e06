/** Finds the calls that a person's words ask for. What is said about their results is in `sentences.ts`. */

import type { OfferedTool, ScriptedCall, Turn } from './script.ts';

/** A call to make, or a request for which there is no tool. */
export interface PlannedCall {
  /** The purpose of the call, as a verb phrase. */
  readonly purpose: string;
  readonly call?: ScriptedCall;
}

/** What a person's words ask for: steps one after another, the calls of one step in parallel. */
export function planOf({ userText, tools }: Turn): PlannedCall[][] {
  const { hidden, reveal } = hideQuotes(userText);
  return hidden
    .split(/\bthen\b|;/i)
    .map((step) =>
      step
        .split(/\band\b|,/i)
        .flatMap((clause) => plannedCall({ clause: clause.trim(), reveal, tools }) ?? []),
    )
    .filter((step) => step.length > 0);
}

interface Clause {
  /** The clause with its quotes hidden, so that their words are not taken for parts of the request. */
  readonly clause: string;
  readonly reveal: (text: string) => string;
  readonly tools: readonly OfferedTool[];
}

function plannedCall(clause: Clause): PlannedCall | undefined {
  return delegation(clause) ?? question(clause) ?? trackerCall(clause);
}

function delegation({ clause, reveal, tools }: Clause): PlannedCall | undefined {
  const found =
    /^(?:please )?(?:ask|tell|delegate to) (?!me\b)(?:the )?([\w-]+?)(?: agent)?(?: to |: ?)(.+)$/i.exec(
      clause,
    );
  if (found === null) return undefined;
  const [, agent = '', task = ''] = found;
  const delegates = tools.filter(isDelegate);
  const tool = delegates.find((offered) => speaksOf(offered, agent)) ?? delegates[0];
  return planned(`ask the ${agent} agent`, tool, (offered) => fillIn(offered, agent, reveal(task)));
}

function question({ clause, reveal, tools }: Clause): PlannedCall | undefined {
  if (!/\bask me\b/i.test(clause)) return undefined;
  return planned('ask you', toolNamed(tools, 'elicit'), () => elicitArguments(reveal(clause), tools));
}

interface TrackerWord {
  readonly means: RegExp;
  readonly purpose: string;
  readonly tool: string;
  readonly fill: (clause: string, reveal: (text: string) => string) => Readonly<Record<string, unknown>>;
}

const numberIn = (clause: string) => ({ number: Number(/\d+/.exec(clause)?.[0] ?? 1) });

const TRACKER_WORDS: readonly TrackerWord[] = [
  { means: /\b(?:issues|bugs|tickets)\b/i, purpose: 'list issues', tool: 'list_issues', fill: () => ({}) },
  {
    means: /\bclose\b.*\b(?:issue|bug|ticket)\b/i,
    purpose: 'close an issue',
    tool: 'close_issue',
    fill: numberIn,
  },
  {
    means: /\b(?:create|open|file|add|report)\b.*\b(?:issue|bug|ticket)\b/i,
    purpose: 'create an issue',
    tool: 'create_issue',
    fill: (clause, reveal) => ({ title: titleIn(clause, reveal) }),
  },
  { means: /\b(?:issue|bug|ticket)\b/i, purpose: 'read an issue', tool: 'get_issue', fill: numberIn },
];

function trackerCall({ clause, reveal, tools }: Clause): PlannedCall | undefined {
  const word = TRACKER_WORDS.find(({ means }) => means.test(clause));
  if (word === undefined) return undefined;
  return planned(word.purpose, toolNamed(tools, word.tool), () => word.fill(clause, reveal));
}

function titleIn(clause: string, reveal: (text: string) => string): string {
  const title =
    QUOTE.exec(clause)?.[0] ?? /\b(?:called|titled|named|about)\s+(.+)$/i.exec(clause)?.[1] ?? 'Untitled';
  return reveal(title);
}

function planned(
  purpose: string,
  tool: OfferedTool | undefined,
  argumentsFor: (tool: OfferedTool) => Readonly<Record<string, unknown>>,
): PlannedCall {
  return tool === undefined
    ? { purpose }
    : { purpose, call: { name: tool.name, arguments: argumentsFor(tool) } };
}

/** The tool of that name, with or without its server's name as a prefix. */
function toolNamed(tools: readonly OfferedTool[], name: string): OfferedTool | undefined {
  return (
    tools.find((tool) => tool.name === name) ??
    tools.find((tool) => tool.name.endsWith(name) && /[_-]$/.test(tool.name.slice(0, -name.length)))
  );
}

function speaksOf(tool: OfferedTool, agent: string): boolean {
  return JSON.stringify([tool.name, tool.parameters]).toLowerCase().includes(agent.toLowerCase());
}

/** Sets every required text to the task, and every required choice to the option that names the agent. */
function fillIn({ parameters }: OfferedTool, agent: string, task: string): Record<string, unknown> {
  const properties = (parameters.properties ?? {}) as Readonly<Record<string, { enum?: unknown[] }>>;
  const required = (parameters.required ?? Object.keys(properties)) as readonly string[];
  return Object.fromEntries(
    required.map((name) => {
      const options = properties[name]?.enum;
      return [
        name,
        options === undefined ? task : (options.find((option) => option === agent) ?? options[0]),
      ];
    }),
  );
}

// A hidden quote is marked by brackets that people do not type: ⟦0⟧ is the first one.
const QUOTE = /⟦\d+⟧/;

function hideQuotes(text: string): { hidden: string; reveal: (hidden: string) => string } {
  const quotes: string[] = [];
  // Single quotes count only around words, so that an apostrophe does not count.
  const hidden = text.replace(/"([^"]*)"|(?<=^|\s)'([^']*)'(?=$|[\s.,;!?])/g, (_, double, single) => {
    quotes.push(double ?? single);
    return `⟦${quotes.length - 1}⟧`;
  });
  return {
    hidden,
    reveal: (shown) => shown.replace(/⟦(\d+)⟧/g, (_, index) => quotes[Number(index)] ?? '').trim(),
  };
}

function isDelegate({ name }: OfferedTool): boolean {
  return /^(?:delegate|transfer|hand_?off)/i.test(name);
}

/** What the demo asks its person, by the words of the request: a secret, a confirmation, a form, else a choice. */
function elicitArguments(request: string, tools: readonly OfferedTool[]): Readonly<Record<string, unknown>> {
  if (/\b(?:secret|password|key)\b/i.test(request)) {
    const taker = tools.find(({ name }) => name.endsWith('create_issue'))?.name;
    return {
      kind: 'secret',
      title: 'Deploy key',
      message: 'Which deploy key should I use?',
      ...(taker !== undefined && { for: taker }),
    };
  }
  if (/\bconfirm/i.test(request))
    return { kind: 'confirmation', title: 'Confirmation', message: 'Shall I continue?' };
  if (/\bform\b/i.test(request))
    return {
      kind: 'form',
      title: 'Release 4.2',
      message: 'Where and when should I release?',
      schema: {
        type: 'object',
        properties: {
          environment: { type: 'string', title: 'Environment', enum: ['staging', 'production'] },
          at: { type: 'string', title: 'Day', format: 'date' },
          note: { type: 'string', title: 'Note for the log', maxLength: 200 },
          announce: { type: 'boolean', title: 'Announce it', default: true },
        },
        required: ['environment'],
      },
    };
  return {
    kind: 'choice',
    title: 'Environment',
    message: 'Which environment should I use?',
    options: [{ value: 'staging' }, { value: 'production' }],
  };
}
