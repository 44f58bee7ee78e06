import {
  type ContentPart,
  contentParts,
  type FilePart,
  fileBytes,
  isAddress,
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
 * Leaves out what the agent does not take of a request: images where it takes none, addresses where it takes bytes only, and
 * what is over its limits, the newest first. Of earlier messages, what was left out is a text: only the newest is answered.
 */
export function admitImages({ input, before }: SentMessages, images: TakenImages): SentMessages {
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

  const admit = (messages: readonly Message[]) =>
    messages
      .toReversed()
      .map((message) =>
        withParts(message, (part) => {
          const refusal = part.type === 'file' ? refusalOf(part) : undefined;
          return part.type === 'file' && refusal !== undefined ? leftOut(part, refusal) : part;
        }),
      )
      .toReversed();
  const admitted = admit(input);
  return { input: admitted, before: admit(before).map((message) => withParts(message, asText)) };
}

/** The messages without their images, which a model has refused: they must not be sent to it again with each later one. */
export function withoutImages(messages: readonly Message[]): readonly Message[] {
  return messages.map((message) =>
    withParts(message, (part) => (part.type === 'file' ? leftOut(part, 'the model refused it') : part)),
  );
}

/** A message as a model takes it: the model learns what was left out, and what another agent took. */
export function asModelTakes(message: Message, images: TakenImages): Message {
  return withParts(message, (part) =>
    asText(part.type === 'file' && !isTaken(part, images) ? leftOut(part, NO_IMAGES) : part),
  );
}

/** A message in which each image counts as much as an estimate of tokens gives it. */
export function forEstimate(message: Message): Message {
  return withParts(message, (part) => (part.type === 'file' ? { ...part, data: ESTIMATED_IMAGE } : part));
}

function isTaken(file: FilePart, images: TakenImages): boolean {
  return images !== undefined && (images.urls || !isAddress(file));
}

function asText(part: ContentPart): ContentPart {
  return part.type === 'left-out' ? { type: 'text', text: `[${part.text}]` } : part;
}

/** The message with each part of its content replaced; the same one unless a person sent it in parts. */
function withParts(message: Message, replace: (part: ContentPart) => ContentPart): Message {
  if (message.role !== 'user' || !Array.isArray(message.content)) return message;
  return { ...message, content: contentParts(message.content).map(replace) };
}
