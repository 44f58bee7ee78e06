import type { FormSchema } from '@parley/shared/domain/forms/schema';
import { labelsSecret, mentionsSecret, namesSecret, wordsOf } from '@parley/shared/domain/secret-words';

const LABEL_WORDS_MAX = 3;
const REQUEST = /\b(?:enter|provide|paste|type|supply|give|send|share|confirm|tell|need|please)\b/u;
const COUNT = /^how many\b/u;
/** Behind the end of a sentence. A dot within a word ends none. */
const SENTENCE_END = /(?<=[.?!]\s|[。？！\n])/u;

/**
 * The fault of a form that asks for a secret (MCP: passwords, API keys, access tokens, payment data), or undefined. Only
 * fields for free text or numbers can take a secret; a yes or no and a choice cannot. A field is refused by its name or
 * its title, and by a message or description that names a secret. In doubt it refuses: a url question is the safe way.
 * The cost is linear in the length of the texts.
 */
export function faultOfSecrets(message: string, schema: FormSchema): string | undefined {
  const isAsked = asksForSecret(message) || asksForSecret(schema.description ?? '');
  for (const [name, field] of Object.entries(schema.properties)) {
    const isChoice = field.type === 'string' && ('enum' in field || 'oneOf' in field);
    if (field.type === 'boolean' || field.type === 'array' || isChoice) continue;
    if (isAsked || isSecretField(name, field.title) || asksForSecret(field.description ?? ''))
      return `requestedSchema.properties.${name} asks for a secret. Passwords, keys, tokens and payment data must not be requested by form: use mode url`;
  }
  return undefined;
}

function isSecretField(name: string, title = ''): boolean {
  // Generators of schemas make the title from the name, of which the last word may say that it is harmless.
  const isDerived = wordsOf(title).join(' ') === wordsOf(name).join(' ');
  return namesSecret(name) || (!isDerived && labelsSecret(title));
}

/**
 * Whether a text names a secret, with or without a verb. Where the text asks a question, statements beside the question
 * may mention a secret.
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
