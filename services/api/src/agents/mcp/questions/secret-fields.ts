import { DEFAULT_FORM_CAPS, type FormField, type FormSchema } from '@parley/core/domain/forms/schema';
import { labelsSecret, mentionsSecret, namesSecret, wordsOf } from '@parley/shared/domain/secret-words';
import type { RawSchema } from './parts.ts';

const TITLE_LENGTH_MAX = DEFAULT_FORM_CAPS.titleLength;
const LABEL_WORDS_MAX = 3;
const REQUEST = /\b(?:enter|provide|paste|type|supply|give|send|share|confirm|tell|need|please)\b/u;
const COUNT = /^how many\b/u;
/** Matches the position after the end of a sentence. A dot within a word does not count. */
const SENTENCE_END = /(?<=[.?!]\s|[。？！\n])/u;

/** The message about a field that asks for a secret. It follows the field's path. */
export const ASKS_FOR_SECRET =
  'asks for a secret. Passwords, keys, tokens and payment data must not be requested by form: use mode url';

/** A field with everything that the server's schema says about it, including what the form does not show. */
interface JudgedField {
  readonly name: string;
  /** Absent if it is not a field that forms know. */
  readonly field: FormField | undefined;
  readonly parts: readonly RawSchema[];
}

/**
 * Makes a check of whether the fields of one form ask for a secret (MCP: passwords, API keys, access tokens, payment data). A
 * field for free text or numbers is judged by its name, title and description. Any field is judged by `writeOnly` and by a
 * format that is a secret word. Each text is read once, so the cost is linear in the length of the schema.
 */
export function createSecretJudge(): (judged: JudgedField) => boolean {
  const isLabel = remembered(labelsSecret);
  const isAsked = remembered(asksForSecret);
  const isTitle = (title: string, name: string) => isLabel(title) && !isDerived(title, name);
  return ({ name, field, parts }) =>
    parts.some(({ writeOnly, format }) => writeOnly === true || (isText(format) && isLabel(format))) ||
    (isFree(field) &&
      (namesSecret(name) ||
        [field, ...parts].some(
          ({ title, description }) =>
            (isText(title) && isTitle(title, name)) || (isText(description) && isAsked(description)),
        )));
}

/**
 * The field with which a form asks for a secret, according to its message or description. In doubt the field counts as secret,
 * because a url question is the safe way. The cost is linear in the length of the texts.
 */
export function secretFieldByTexts(message: string, schema: FormSchema): string | undefined {
  const [name] = Object.entries(schema.properties).find(([, field]) => isFree(field)) ?? [];
  return asksForSecret(message) || asksForSecret(schema.description ?? '') ? name : undefined;
}

const isText = (value: unknown): value is string => typeof value === 'string';

/** Only fields for free text or numbers can take a secret; booleans and choices cannot. */
function isFree(field: FormField | undefined): field is FormField {
  const isChoice = field?.type === 'string' && ('enum' in field || 'oneOf' in field);
  return field !== undefined && field.type !== 'boolean' && field.type !== 'array' && !isChoice;
}

/** True if a schema generator made the title from the name. The last word of the name may then show that it is harmless. */
function isDerived(title: string, name: string): boolean {
  return title.length <= TITLE_LENGTH_MAX && wordsOf(title).join(' ') === wordsOf(name).join(' ');
}

function remembered(judge: (text: string) => boolean): (text: string) => boolean {
  const seen = new Map<string, boolean>();
  return (text) => {
    const known = seen.get(text) ?? judge(text);
    seen.set(text, known);
    return known;
  };
}

/**
 * True if a text names a secret, with or without a verb. If the text contains a question, statements beside the question may
 * mention a secret.
 */
function asksForSecret(text: string): boolean {
  const sentences = text.split(SENTENCE_END).map((sentence) => sentence.trim());
  const hasQuestion = sentences.some((sentence) => /[?？]$/u.test(sentence));
  return sentences.some((sentence) => {
    const words = wordsOf(sentence);
    const isLabel = words.length <= LABEL_WORDS_MAX;
    const plain = words.join(' ');
    const isMention = hasQuestion && !isLabel && /[.!。！]$/u.test(sentence) && !REQUEST.test(plain);
    if (isMention || COUNT.test(plain)) return false;
    return isLabel ? labelsSecret(sentence) : mentionsSecret(sentence);
  });
}
