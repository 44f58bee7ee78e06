/**
 * Decides which images of a conversation a model gets, and what replaces the others. Reading images from clients is in
 * `turns/content`.
 */

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

/** The images that a model accepts; undefined for a model that accepts none. */
export type TakenImages = ModelImages | undefined;

// The share of an image in an estimate of tokens: about a thousand, however many bytes it has.
const ESTIMATED_IMAGE = 'x'.repeat(4_000);
const NO_IMAGES = 'this agent takes no images';

interface SentMessages {
  readonly input: readonly Message[];
  readonly before: readonly Message[];
}

/**
 * Removes from a request the files that the agent does not accept. In earlier messages, a text replaces them, because only the
 * newest message is answered.
 */
export function admitImages({ input, before }: SentMessages, images: TakenImages): SentMessages {
  const taken = limitImages([...before, ...input], images);
  return {
    input: taken.slice(before.length),
    before: taken.slice(0, before.length).map((message) => withParts(message, asText)),
  };
}

/** A conversation with only the images that a model accepts. Texts tell the model what was omitted. */
export function asModelTakes(messages: readonly Message[], images: TakenImages): readonly Message[] {
  return limitImages(messages, images).map((message) => withParts(message, asText));
}

/**
 * The messages without images, for a model's server that refused a request with images. Returns the same list if there are no
 * images.
 */
export function withoutImages(messages: readonly Message[]): readonly Message[] {
  const holdsImage = ({ role, content }: Message) =>
    role === 'user' && contentParts(content).some(({ type }) => type === 'file');
  return messages.some(holdsImage)
    ? messages.map((message) => withoutFiles(message, () => 'a request with it was refused'))
    : messages;
}

/**
 * Removes images if the model accepts none, URLs if it accepts only bytes, and images beyond the limits. The newest images are
 * kept longest.
 */
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

/** The message for an estimate of tokens, in which each image has a fixed share. */
export function forEstimate(message: Message): Message {
  return withParts(message, (part) => (part.type === 'file' ? { ...part, data: ESTIMATED_IMAGE } : part));
}

function asText(part: ContentPart): ContentPart {
  return isLeftOut(part) ? { type: 'text', text: `[${part.text}]` } : part;
}

/** The message with a sentence in place of each file that has a reason to be omitted. */
function withoutFiles(message: Message, reasonOf: (file: FilePart) => string | undefined): Message {
  return withParts(message, (part) => {
    const reason = part.type === 'file' ? reasonOf(part) : undefined;
    return part.type === 'file' && reason !== undefined ? leftOut(part, reason) : part;
  });
}

/** The message with each part of its content replaced. Only a person's message in parts changes. */
function withParts(message: Message, replace: (part: ContentPart) => ContentPart): Message {
  if (message.role !== 'user' || !Array.isArray(message.content)) return message;
  return { ...message, content: countLeftOut(contentParts(message.content).map(replace)) };
}
