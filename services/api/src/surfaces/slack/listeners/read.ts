import { forwardedIn, type Incoming, receptionOf, unreadableOf } from '../mapping/incoming.ts';
import { type MentionedText, mentionedText, onlyLink, shownText } from '../mapping/mentions.ts';
import { lineText } from '../mapping/text.ts';
import type { TypedWords } from '../mapping/typed.ts';
import type { NamePlace, Names } from './names.ts';

/** A message in the form for the agent; or, if it contains nothing to read, a sentence for the person. */
type WordsRead =
  | {
      readonly text: string;
      /** The text that the person typed, as a possible answer to a question; undefined together with a forwarded message. */
      readonly typed: TypedWords | undefined;
      readonly notice: string | undefined;
    }
  | { readonly refusal: string };

const AUTHOR_MAX = 80;
const TEXT_MAX = 10_000;

/** Reads the text of a message and of messages that it forwards. Unreadable parts are named to the agent and to the person. */
export async function readMessage(
  names: Names,
  place: NamePlace,
  message: Incoming,
  appUser: string | undefined,
): Promise<WordsRead> {
  if (receptionOf(message) === 'answered')
    return { refusal: 'I cannot read messages of this kind. Write to me in a message.' };
  const own = mentionedText(message.text ?? '', appUser);
  const forwarded = forwardedIn(message).map(({ text = '', author_name: author = '' }) => ({
    author,
    text: mentionedText(text, undefined),
  }));
  const nameOf = await names(place, mentionsIn([own, ...forwarded.map(({ text }) => text)]));
  const words = [
    shownText(own, nameOf),
    ...forwarded.map(({ author, text }) => forwardText(author, shownText(text, nameOf))),
  ].filter((text) => text !== '');
  const typed =
    forwarded.length > 0 ? undefined : { text: shownText(own, nameOf), link: onlyLink(message.text ?? '') };
  return outcomeOf(words, typed, unreadableOf(message));
}

function outcomeOf(
  words: readonly string[],
  typed: TypedWords | undefined,
  unreadable: string | undefined,
): WordsRead {
  if (words.join('\n\n').length > TEXT_MAX)
    return { refusal: `This message has more than ${TEXT_MAX} characters. Send a shorter one.` };
  if (unreadable === undefined)
    return words.length === 0
      ? { refusal: 'Write what you need in your message.' }
      : { text: words.join('\n\n'), typed, notice: undefined };
  if (words.length === 0) return { refusal: `I cannot read ${unreadable}. Write what you need.` };
  return {
    text: [...words, `[Left out, because it cannot be read here: ${unreadable}]`].join('\n\n'),
    typed,
    notice: `I cannot read ${unreadable}. I go on with your words.`,
  };
}

function mentionsIn(texts: readonly MentionedText[]) {
  return texts.flat().filter((part) => typeof part !== 'string');
}

function forwardText(author: string, text: string): string {
  if (text === '') return '';
  const head = author === '' ? 'Forwarded:' : `Forwarded from ${lineText(author, AUTHOR_MAX)}:`;
  return [head, ...text.split('\n').map((line) => `> ${line}`)].join('\n');
}
