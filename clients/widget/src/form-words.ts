import type { Strings } from './strings.ts';
import { numberIn, pluralIn } from './strings-time.ts';

/** Words of the controls alone. */
interface FormWords {
  /** The choice that takes an answer back, where none is needed. */
  readonly noAnswer: string;
  /** How many characters are left, or too many where negative. */
  readonly room: (left: number) => string;
}

const ENGLISH: FormWords = {
  noAnswer: 'No answer',
  room: (left) => {
    const amount = Math.abs(left);
    const noun = pluralIn('en', amount, 'character', 'characters');
    return `${numberIn('en', amount)} ${noun} ${left < 0 ? 'too many' : 'left'}`;
  },
};

const GERMAN: FormWords = {
  noAnswer: 'Keine Angabe',
  room: (left) => `${numberIn('de', Math.abs(left))} Zeichen ${left < 0 ? 'zu viel' : 'übrig'}`,
};

/** The words in the language of a table of strings. */
export function formWordsFor({ lang }: Strings): FormWords {
  return lang === 'de' ? GERMAN : ENGLISH;
}
