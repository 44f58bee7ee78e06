/** Reads an A2A message: text, images, answers. What it leads to is decided in `handler.ts`. */

import type { Message, Part } from '@a2a-js/sdk';
import { ParleyError } from '@parley/core/domain/errors';
import { isRecord, own } from '@parley/core/domain/plain-record';
import { AnswerData } from '@parley/shared/domain/a2a/extension';
import { hopsIn } from '@parley/shared/domain/a2a/hops';
import {
  type AnswerMessage,
  type FirstMessage,
  type KeptMessage,
  PIECE_GAP,
  piecesOf,
} from '@parley/shared/domain/a2a/kept-message';
import type { ContentPart } from '@parley/shared/domain/runs/content';
import { PARTS_MAX, readPart } from '../../turns/content/read-part.ts';
import type { Sdk } from './sdk.ts';

const MESSAGE_ID_MAX = 256;
/** The maximum number of answers in a message. Each costs several Redis commands, and no task asks more at once. */
const ANSWERS_MAX = 50;
/** The maximum size of a message without its content and answers, because the history stores it. */
const BESIDE_BYTES_MAX = 16_384;

/** The parts of a message that Parley reads. */
export interface ReadMessage {
  readonly messageId: string;
  readonly taskId: string | undefined;
  readonly contextId: string | undefined;
  /** The text parts as paragraphs. In a message that begins a task, also the JSON of data parts that are not answers. */
  readonly text: string;
  /** Its images. */
  readonly images: readonly ContentPart[];
  /** Answers in the format of Parley's extension. */
  readonly answers: readonly AnswerData[];
  /** How many deployments in a row have delegated the message's task. */
  readonly hops: number;
  /** The part of the message that the task's history stores if the message begins the task. */
  readonly first: FirstMessage;
  /** The part of the message that the task's history stores if the message answers. */
  readonly answering: Omit<AnswerMessage, 'surface'>;
}

/** Reads a message. Throws `invalid_request`, and the protocol's error for parts that Parley does not accept. */
export function readMessage({ errors }: Sdk, message: Message | undefined): ReadMessage {
  if (message === undefined) throw malformed('message', 'is required');
  const { messageId, taskId, contextId, parts, metadata } = message;
  if (messageId === '' || messageId.length > MESSAGE_ID_MAX)
    throw malformed('message.messageId', `must have 1 to ${MESSAGE_ID_MAX} characters`);
  if (parts.length === 0) throw malformed('message.parts', 'is required');
  if (parts.length > PARTS_MAX) throw malformed('message.parts', `holds at most ${PARTS_MAX} parts`);
  if (parts.filter(({ content }) => content?.$case === 'data').length > ANSWERS_MAX)
    throw malformed('message.parts', `holds at most ${ANSWERS_MAX} answers or data; send more messages`);
  // Only a message that begins a task may contain input data.
  const mayBeInput = taskId === '';
  const texts: { type: 'text' | 'data'; text: string }[] = [];
  const answers: AnswerData[] = [];
  const images: ContentPart[] = [];
  for (const [index, part] of parts.entries()) {
    const { content } = part;
    if (content?.$case === 'text') texts.push({ type: 'text', text: content.value.trim() });
    else if (content?.$case === 'data' && mayBeInput && !isAnswer(content.value))
      texts.push({ type: 'data', text: JSON.stringify(content.value) });
    else if (content?.$case === 'data') answers.push(answerOf(content.value, index));
    else images.push(imageOf(errors, part));
  }
  const said = texts.filter(({ text }) => text !== '');
  const sent = sentOf(message);
  const pieces = piecesOf(said);
  const beside = answers.length === 0 ? [] : said.map(({ text }) => ({ text }));
  checkBeside(sent, beside);
  return {
    messageId,
    taskId: mayBeInput ? undefined : taskId,
    contextId: contextId === '' ? undefined : contextId,
    text: said.map(({ text }) => text).join(PIECE_GAP),
    images,
    answers,
    hops: hopsIn(metadata),
    first: { ...sent, ...(pieces !== undefined && { pieces }) },
    answering: {
      ...sent,
      ...(answers.length > 0 && {
        parts: [...beside, ...answers.map(({ elicitationId, action }) => ({ elicitationId, action }))],
      }),
    },
  };
}

function sentOf({ messageId, metadata, extensions, referenceTaskIds }: Message): KeptMessage {
  return {
    messageId,
    ...(metadata !== undefined && { metadata }),
    ...(extensions.length > 0 && { extensions }),
    ...(referenceTaskIds.length > 0 && { referenceTaskIds }),
  };
}

/** Throws `invalid_request` for a message that is too large for the history, and names its largest part. */
function checkBeside(
  { metadata, extensions, referenceTaskIds }: KeptMessage,
  texts: readonly { readonly text: string }[],
): void {
  const beside = { metadata, extensions, referenceTaskIds, parts: texts };
  const sizes = Object.entries(beside).map(([name, value = null]) => ({
    name,
    bytes: Buffer.byteLength(JSON.stringify(value)),
  }));
  if (sizes.reduce((sum, { bytes }) => sum + bytes, 0) <= BESIDE_BYTES_MAX) return;
  const [largest] = sizes.sort((a, b) => b.bytes - a.bytes);
  throw malformed(
    `message.${largest?.name}`,
    `is too large; what a message has beside its content and its answers takes at most ${BESIDE_BYTES_MAX} bytes`,
  );
}

/** Converts a file of A2A for the reader of parts. */
function fileOf({ content, filename, mediaType }: Part): object {
  const data = content?.$case === 'raw' ? Buffer.from(content.value).toString('base64') : undefined;
  const url = content?.$case === 'url' ? content.value : undefined;
  return { type: 'file', data, url, filename, mediaType };
}

function imageOf(errors: Sdk['errors'], part: Part): ContentPart {
  const image = readPart(fileOf(part));
  if (image?.type === 'file') return image;
  throw new errors.ContentTypeNotSupportedError({
    message: `Parley takes text, images and data. ${image?.text ?? ''}`.trim(),
  });
}

function isAnswer(data: unknown): boolean {
  return isRecord(data) && own(data, 'type') === AnswerData.shape.type.value;
}

function answerOf(data: unknown, index: number): AnswerData {
  const read = AnswerData.safeParse(data);
  if (read.success) return read.data;
  throw malformed(`message.parts.${index}.data`, 'is no answer of the elicitation extension');
}

function malformed(path: string, message: string): ParleyError {
  return new ParleyError('invalid_request', 'The message is not well formed.', {
    issues: [{ path, message }],
  });
}
