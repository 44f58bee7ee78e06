import {
  type ContentPart,
  contentParts,
  countLeftOut,
  type FilePart,
  fileBytes,
  isAddress,
  isLeftOut,
  leftOut,
} from '@parley/shared/domain/runs/content';
import type { Message } from '@parley/shared/domain/runs/run';
import type { ModelImages } from '../config/models.ts';

/** The images that a model takes; undefined for a model that takes none. */
export type TakenImages = ModelImages | undefined;

// An image as a part of an estimate of tokens: about a thousand, whatever its bytes.
const ESTIMATED_IMAGE = 'x'.repeat(4_000);
const NO_IMAGES = 'this agent takes no images';

interface SentMessages {
  readonly input: readonly Message[];
  readonly before: readonly Message[];
}

/**
 * Leaves out what the agent does not take of a request. Of earlier messages, what was left out is a text: only the newest is
 * answered.
 */
export function admitImages({ input, before }: SentMessages, images: TakenImages): SentMessages {
  const taken = limitImages([...before, ...input], images);
  return {
    input: taken.slice(before.length),
    before: taken.slice(0, before.length).map((message) => withParts(message, asText)),
  };
}

/** A conversation as a model takes it: it learns what was left out. */
export function asModelTakes(messages: readonly Message[], images: TakenImages): readonly Message[] {
  return limitImages(messages, images).map((message) => withParts(message, asText));
}

/**
 * The messages without their images, because the model's server refused a request with them; the same list where there are
 * none.
 */
export function withoutImages(messages: readonly Message[]): readonly Message[] {
  const holdsImage = ({ role, content }: Message) =>
    role === 'user' && contentParts(content).some(({ type }) => type === 'file');
  return messages.some(holdsImage)
    ? messages.map((message) => withoutFiles(message, () => 'a request with it was refused'))
    : messages;
}

/** Leaves out images where none are taken, addresses where bytes only are, and what is over the limits, the newest first. */
function limitImages(messages: readonly Message[], images: TakenImages): readonly Message[] {
  let number = 0;
  let bytes = 0;

  function refusalOf(file: FilePart): string | undefined {
    if (images === undefined) return NO_IMAGES;
    if (isAddress(file) && !images.urls)
      return 'this agent takes no addresses of images; send the image itself';
    if (number + 1 > images.number) return `at most ${images.number} images can be passed on`;
    if (bytes + fileBytes(file) > images.bytes)
      return `the images have more than ${images.bytes} bytes together; send a smaller one`;
    number += 1;
    bytes += fileBytes(file);
    return undefined;
  }

  return messages
    .toReversed()
    .map((message) => withoutFiles(message, refusalOf))
    .toReversed();
}

/** A message in which each image counts as much as an estimate of tokens gives it. */
export function forEstimate(message: Message): Message {
  return withParts(message, (part) => (part.type === 'file' ? { ...part, data: ESTIMATED_IMAGE } : part));
}

function asText(part: ContentPart): ContentPart {
  return isLeftOut(part) ? { type: 'text', text: `[${part.text}]` } : part;
}

/** The message with sentences in place of the files for which there is a reason to leave them out. */
function withoutFiles(message: Message, reasonOf: (file: FilePart) => string | undefined): Message {
  return withParts(message, (part) => {
    const reason = part.type === 'file' ? reasonOf(part) : undefined;
    return part.type === 'file' && reason !== undefined ? leftOut(part, reason) : part;
  });
}

/** The message with each part of its content replaced; the same one unless a person sent it in parts. */
function withParts(message: Message, replace: (part: ContentPart) => ContentPart): Message {
  if (message.role !== 'user' || !Array.isArray(message.content)) return message;
  return { ...message, content: countLeftOut(contentParts(message.content).map(replace)) };
}
