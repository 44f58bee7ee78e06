import { controlsOf } from '@parley/core/domain/forms/controls';
import { describe, expect, it } from 'vitest';
import { ENGLISH_APPROVAL } from '../../../clients/widget/src/strings/approval.ts';
import { GERMAN } from '../../../clients/widget/src/strings/de.ts';
import { ENGLISH } from '../../../clients/widget/src/strings/en.ts';
import { ENGLISH_INBOX } from '../../../clients/widget/src/strings/inbox.ts';
import { type AllStrings, loadStrings } from '../../../clients/widget/src/strings/strings.ts';
import type { FieldFault } from '../../../clients/widget/src/strings/type.ts';

const TABLES: Readonly<Record<string, AllStrings>> = {
  en: { ...ENGLISH, ...ENGLISH_INBOX, ...ENGLISH_APPROVAL },
  de: GERMAN,
};

function stringsFor(lang: string): AllStrings {
  const table = TABLES[lang];
  if (table === undefined) throw new Error(`no ${lang}`);
  return table;
}

const FAULTS: FieldFault[] = [
  ...(
    ['required', 'comma', 'number', 'integer', 'safe', 'choice', 'offered', 'once', 'nul', 'unicode'] as const
  ).map((rule) => ({ rule })),
  ...(['minLength', 'maxLength', 'minimum', 'maximum', 'minItems', 'maxItems'] as const).map((rule) => ({
    rule,
    limit: 1234,
  })),
  ...(['email', 'uri', 'date', 'date-time'] as const).map((format) => ({ rule: 'format' as const, format })),
];
const FIELDS = controlsOf({
  properties: {
    number: { type: 'number', minimum: 1, maximum: 5 },
    text: { type: 'string', maxLength: 1 },
    multi: { type: 'array', items: { type: 'string', enum: ['a', 'b'] }, minItems: 1 },
  },
});
const ENDS = ['accepted', 'declined', 'cancelled', 'expired', 'withdrawn'] as const;

const APPROVAL_ENDS = ['approved', 'edited', 'denied', 'expired', 'withdrawn'] as const;
const HINTS = [undefined, { readOnly: true }, { destructive: true, openWorld: true }, { destructive: false }];

/** Every sentence of a table, by what it is for. */
function sentencesOf(strings: AllStrings): Record<string, unknown> {
  const plain = Object.entries(strings).filter(([, text]) => typeof text === 'string');
  const ends = ENDS.flatMap((status) =>
    (['form', 'url'] as const).flatMap((mode) =>
      [true, false].map((here) => [`${status} ${mode} ${here}`, strings.ended({ status, mode, here })]),
    ),
  );
  const codes = ['offline', 'invalid_answer', 'already_settled', 'expired', 'not_found', 'unauthenticated'];
  return Object.fromEntries([
    ...plain,
    ...ends,
    ...FAULTS.map((fault) => [JSON.stringify(fault), strings.fault(fault)]),
    ...[-1, 5].map((left) => [`room ${left}`, strings.room(left)]),
    ...FIELDS.map((field) => [`hint ${field.name}`, strings.hint(field)]),
    ...(['punycode', 'address', 'port', 'not_encrypted', 'user_info'] as const).map((w) => [
      w,
      strings.warning(w),
    ]),
    ...(['not_a_url', 'not_web', 'too_long'] as const).map((why) => [why, strings.addressRefused(why)]),
    ...(['connecting', 'live', 'polling', 'offline'] as const).map((c) => [
      `line ${c}`,
      strings.connection(c),
    ]),
    ...APPROVAL_ENDS.flatMap((status) =>
      [true, false].map((here) => [`approval ${status} ${here}`, strings.approvalEnded({ status, here })]),
    ),
    ...[...codes, 'too_large', 'rate_limited'].map((code) => [
      `approval refusal ${code}`,
      strings.approvalRefusal(code),
    ]),
    ...HINTS.map((hints) => [`hints ${JSON.stringify(hints)}`, strings.toolHints(hints).join()]),
    ...(['conversation', { days: 7 }] as const).map((time) => [
      `remember ${JSON.stringify(time)}`,
      strings.rememberFor(time),
    ]),
    ...[...codes, 'too_large', 'rate_limited', 'internal'].map((code) => [
      `refusal ${code}`,
      strings.refusal(code),
    ]),
    ...['credential_required', 'mcp_elicitation', 'a2a_input_required'].flatMap((trigger) => [
      [`why ${trigger}`, strings.why({ trigger })],
      [`why ${trigger} tool`, strings.why({ trigger, tool: 'Mail' })],
    ]),
  ]);
}

describe('the strings', () => {
  const english = sentencesOf(stringsFor('en'));
  const german = sentencesOf(stringsFor('de'));

  it('say something everywhere, each language in its own words', () => {
    expect(Object.keys(german)).toEqual(Object.keys(english));
    for (const [name, sentence] of Object.entries(english)) {
      expect(sentence, name).toMatch(/\S/);
      expect(german[name], name).toMatch(/\S/);
      expect(german[name], name).not.toBe(sentence);
      expect(`${sentence} ${german[name]}`, name).not.toMatch(/undefined|NaN|\[object/);
    }
  });

  it('tell the ways a question ends from each other', () => {
    for (const here of [true, false]) {
      const said = ENDS.map((status) => stringsFor('en').ended({ status, mode: 'form', here }));
      expect(new Set(said).size).toBe(ENDS.length);
    }
  });

  it.each([
    ['en', 1, '1 waiting', '1 question is waiting for you'],
    ['en', 3, '3 waiting', '3 questions are waiting for you'],
    ['de', 1, '1 wartet', '1 Frage wartet auf Sie'],
    ['de', 3, '3 warten', '3 Fragen warten auf Sie'],
  ])('count in %s: %i', (lang, count, chip, name) => {
    expect(stringsFor(lang).waiting(count)).toBe(chip);
    expect(stringsFor(lang).waitingLong(count)).toBe(name);
  });

  it.each([
    [0, '0:00 left', 'noch 0:00', '0 seconds left to answer.'],
    [1, '0:01 left', 'noch 0:01', '1 second left to answer.'],
    [60_000, '1:00 left', 'noch 1:00', '1 minute left to answer.'],
    [299_000, '4:59 left', 'noch 4:59', '5 minutes left to answer.'],
    [3_540_000, '59 minutes left', 'noch 59 Minuten', '59 minutes left to answer.'],
    [7_199_000, '119 minutes left', 'noch 119 Minuten', '2 hours left to answer.'],
    [7_200_000, '2 hours left', 'noch 2 Stunden', '2 hours left to answer.'],
    [172_800_000, '2 days left', 'noch 2 Tage', '2 days left to answer.'],
  ])('count down from %i ms', (leftMs, english, german, aloud) => {
    expect(stringsFor('en').countdown(leftMs)).toBe(english);
    expect(stringsFor('de').countdown(leftMs)).toBe(german);
    expect(stringsFor('en').timeLeft(leftMs)).toBe(aloud);
  });

  it('tell ages', () => {
    expect([0, 60_000, 190_000, 7_300_000].map(stringsFor('en').age)).toEqual([
      'just now',
      '1 minute ago',
      '3 minutes ago',
      '2 hours ago',
    ]);
    expect(stringsFor('de').age(190_000)).toBe('vor 3 Minuten');
  });

  it.each(['en', 'de'])('write limits in %s as they have to be typed', (lang) => {
    expect(stringsFor(lang).fault({ rule: 'minimum', limit: 1234.5 })).toContain(' 1234.5 ');
  });

  it('are loaded for their language alone; English needs no loading', async () => {
    for (const lang of ['de', 'de-AT', 'DE']) expect(await loadStrings(lang)).toBe(GERMAN);
    for (const lang of [undefined, '', 'en', 'fr', 'den', '__proto__'])
      expect(loadStrings(lang)).toBeUndefined();
  });
});
