/** Recognizes the questions in the state of a waiting task. Pure; asking them is in `questions.ts`. */

import { readable } from '@parley/core/domain/readable';
import { type QuestionData, questionsIn } from '@parley/shared/domain/a2a/extension';
import { QuestionRefused, readQuestion, type ServerQuestion } from '../mcp/questions/question.ts';
import { digestOf } from '../remote/message-ids.ts';
import { type AgentAsk, pageOf } from '../remote/questions.ts';
import { textOf } from './outcome.ts';
import type { RemotePart, RemoteTask } from './remote-task.ts';

/** A question of a waiting task, through Parley's extension or in plain words. Pure. */
export type RemoteQuestion = { readonly key: string } & (
  | {
      readonly type: 'extension';
      readonly elicitationId: string;
      readonly question: ServerQuestion;
      readonly sensitive: boolean;
      readonly description?: string | undefined;
      readonly expiresAt: string;
    }
  /** A question through the extension that cannot be shown to the person. */
  | { readonly type: 'unusable'; readonly elicitationId: string }
  | { readonly type: 'text'; readonly message: string }
  /** A page where the person authorizes something. */
  | { readonly type: 'page'; readonly message: string; readonly url: string }
  /** The person must authorize something elsewhere. */
  | { readonly type: 'notice'; readonly message: string }
);

const MESSAGE_LENGTH_MAX = 4_000;
const KEY_LENGTH = 32;
const BOTH = { form: true, url: true };

/** The open questions of a task. A question has the same key at each reading. */
export function readQuestions(
  { status }: Pick<RemoteTask, 'status'>,
  speaksElicitation: boolean,
): RemoteQuestion[] {
  const { state, message, timestamp } = status;
  const isInput = state === 'TASK_STATE_INPUT_REQUIRED';
  if (!isInput && state !== 'TASK_STATE_AUTH_REQUIRED') return [];
  const parts = message?.parts ?? [];
  const asked = speaksElicitation ? questionsIn(parts) : [];
  if (asked.length > 0)
    return asked.filter((one) => one.status === 'pending').map((one) => extensionQuestion(one));
  const text = shownText(textOf(parts));
  // Some agents change the timestamp of an unchanged status at each reading, so the message id identifies the status.
  const messageId = message?.messageId ?? '';
  const key = keyOf([state, messageId === '' ? timestamp : messageId, text]);
  if (isInput) return [{ type: 'text', key, message: text }];
  const url = findPage(parts, text);
  return [
    url === undefined ? { type: 'notice', key, message: text } : { type: 'page', key, message: text, url },
  ];
}

function extensionQuestion(data: QuestionData): RemoteQuestion {
  const { elicitationId, mode, message, requestedSchema, url, sensitive, description, expiresAt } = data;
  const key = keyOf([elicitationId]);
  try {
    const question = readQuestion({ mode, message, requestedSchema, url }, BOTH);
    return {
      type: 'extension',
      key,
      elicitationId,
      question,
      sensitive: sensitive === true,
      description: description?.slice(0, MESSAGE_LENGTH_MAX),
      expiresAt,
    };
  } catch (error) {
    if (error instanceof QuestionRefused) return { type: 'unusable', key, elicitationId };
    throw error;
  }
}

function keyOf(parts: readonly unknown[]): string {
  return digestOf(parts).slice(0, KEY_LENGTH);
}

/** The agent's text for a person, shortened. It says so if the data contains more than is shown. */
function shownText(given: string): string {
  const text = readable(given);
  return text.length <= MESSAGE_LENGTH_MAX ? text : `${text.slice(0, MESSAGE_LENGTH_MAX).toWellFormed()} …`;
}

/** The URL of a page, from a text or from the member `url` of the data. */
function findPage(parts: readonly RemotePart[], text: string): string | undefined {
  const named = parts.flatMap(({ data, url }) => {
    const inData = (data as { readonly url?: unknown } | null | undefined)?.url;
    return [url, typeof inData === 'string' ? inData : undefined];
  });
  const written = /https?:\/\/[^\s<>"'()[\]]+/.exec(text)?.[0].replace(/[.,;:!?]+$/, '');
  return [...named, written].find((one) => one !== undefined && URL.canParse(one));
}

export function extensionAsk(
  { question, sensitive, description, expiresAt }: Extract<RemoteQuestion, { type: 'extension' }>,
  questionTimeoutSeconds: number,
): AgentAsk {
  const leftSeconds = Math.floor((Date.parse(expiresAt) - Date.now()) / 1_000);
  const timeoutSeconds = Math.max(1, Math.min(questionTimeoutSeconds, leftSeconds));
  const { message } = question;
  if (question.mode === 'url') return { ...pageOf(question.url, description), message, timeoutSeconds };
  return {
    mode: 'form',
    message,
    requestedSchema: question.requestedSchema,
    timeoutSeconds,
    ...(description !== undefined && { description }),
    ...(sensitive && { sensitive }),
  };
}

export function textAsk(message: string, title: string): AgentAsk {
  return {
    mode: 'form',
    message: message === '' ? `${title} needs more to continue.` : message,
    requestedSchema: {
      type: 'object',
      properties: { answer: { type: 'string', title: 'Answer' } },
      required: ['answer'],
    },
  };
}
