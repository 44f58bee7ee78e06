import type { Message, Part } from '@a2a-js/sdk';
import { AnswerData } from '@parley/shared/domain/a2a/extension';
import { hopsIn } from '@parley/shared/domain/a2a/hops';
import { ParleyError } from '@parley/shared/domain/errors';
import { isRecord, own } from '@parley/shared/domain/plain-record';
import type { ContentPart } from '@parley/shared/domain/runs/content';
import { PARTS_MAX, readPart } from '../../turns/content/read-part.ts';
import type { Sdk } from './sdk.ts';

const MESSAGE_ID_MAX = 256;
/** Each answer costs several commands of Redis, and no task asks as much at once. */
const ANSWERS_MAX = 50;

/** What a message holds for Parley. */
export interface ReadMessage {
  readonly messageId: string;
  readonly taskId: string | undefined;
  readonly contextId: string | undefined;
  /** Its text parts as paragraphs, in a message that begins a task also the JSON of its data that are no answers. */
  readonly text: string;
  /** Its images. */
  readonly images: readonly ContentPart[];
  /** Answers by the extension. */
  readonly answers: readonly AnswerData[];
  /** How many deployments have delegated it, one to the next. */
  readonly hops: number;
}

/** Reads a message. Throws `invalid_request`, and the protocol's error for parts that Parley does not take. */
export function readMessage({ errors }: Sdk, message: Message | undefined): ReadMessage {
  if (message === undefined) throw malformed('message', 'is required');
  const { messageId, taskId, contextId, parts, metadata } = message;
  if (messageId === '' || messageId.length > MESSAGE_ID_MAX)
    throw malformed('message.messageId', `must have 1 to ${MESSAGE_ID_MAX} characters`);
  if (parts.length === 0) throw malformed('message.parts', 'is required');
  if (parts.length > PARTS_MAX) throw malformed('message.parts', `holds at most ${PARTS_MAX} parts`);
  if (parts.filter(({ content }) => content?.$case === 'data').length > ANSWERS_MAX)
    throw malformed('message.parts', `holds at most ${ANSWERS_MAX} answers or data; send more messages`);
  // Of a message that begins a task.
  const mayBeInput = taskId === '';
  const texts: string[] = [];
  const answers: AnswerData[] = [];
  const images: ContentPart[] = [];
  for (const [index, part] of parts.entries()) {
    const { content } = part;
    if (content?.$case === 'text') texts.push(content.value);
    else if (content?.$case === 'data' && mayBeInput && !isAnswer(content.value))
      texts.push(JSON.stringify(content.value));
    else if (content?.$case === 'data') answers.push(answerOf(content.value, index));
    else images.push(imageOf(errors, part));
  }
  return {
    messageId,
    taskId: mayBeInput ? undefined : taskId,
    contextId: contextId === '' ? undefined : contextId,
    text: texts.join('\n\n').trim(),
    images,
    answers,
    hops: hopsIn(metadata),
  };
}

/** A file of A2A in the words of the reader of parts. */
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
