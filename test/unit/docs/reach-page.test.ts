import { readFileSync } from 'node:fs';
import { FIELD_KINDS, type QuestionNeeds, type Reachability, reachOf } from '@parley/shared/domain/reach';
import { describe, expect, it } from 'vitest';

const PAGE = readFileSync(new URL('../../../docs/reach.md', import.meta.url), 'utf8');

type Case = readonly [question: QuestionNeeds, person: Reachability];
type Fits = (...of: Case) => boolean;

const showsForm: Fits = (question, { form, fieldKinds = FIELD_KINDS, sensitiveForms }) =>
  form &&
  question.fieldKinds.every((kind) => fieldKinds.includes(kind)) &&
  !(question.sensitive && sensitiveForms === false);

const QUESTIONS: Readonly<Record<string, Fits>> = {
  '`url`': ({ mode }) => mode === 'url',
  '`url`, to connect': ({ connects }) => connects,
  '`form`': ({ mode }) => mode === 'form',
  '`form`, not sensitive': ({ mode, sensitive }) => mode === 'form' && !sensitive,
};
const CLIENTS: Readonly<Record<string, Fits>> = {
  '': () => true,
  'nobody attends': (_question, { unattended }) => unattended === true,
  'shows urls': (_question, { url }) => url,
  'shows the form': showsForm,
  'tells pages': (_question, { tellsPages }) => tellsPages === true,
};
const DEPLOYMENTS: Readonly<Record<string, Fits>> = {
  '': () => true,
  'the page': (_question, { page }) => page,
  'a channel': (_question, { notify }) => notify,
  'the page and a channel': (_question, { page, notify }) => page && notify,
};

const LINES = (PAGE.split('<!-- reach -->')[1]?.split('<!-- /reach -->')[0] ?? '')
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => {
    const [question = '', client = '', deployment = '', reach = ''] = line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim());
    const fits = [QUESTIONS[question], CLIENTS[client], DEPLOYMENTS[deployment]];
    return { line, fits, reach: reach.replaceAll('`', '') };
  });

/** Every combination of what decides. */
function everyCase(): Case[] {
  const both = [false, true];
  const questions = both.flatMap((sensitive): QuestionNeeds[] => [
    { mode: 'url', fieldKinds: [], sensitive, connects: false },
    { mode: 'url', fieldKinds: [], sensitive, connects: true },
    { mode: 'form', fieldKinds: [], sensitive, connects: false },
    { mode: 'form', fieldKinds: ['text'], sensitive, connects: false },
    { mode: 'form', fieldKinds: ['text', 'multi_select'], sensitive, connects: false },
  ]);
  const clients = both.flatMap((form) => both.map((url) => ({ form, url })));
  const declared = [{}, { fieldKinds: ['text'] }, { fieldKinds: [] }];
  const careful = [{}, { sensitiveForms: false as const }, { tellsPages: true as const }];
  const attended = [{}, { unattended: true as const }];
  const deployments = both.flatMap((page) => both.map((notify) => ({ page, notify })));
  return questions.flatMap((question) =>
    clients.flatMap((client) =>
      declared.flatMap((kinds) =>
        careful.flatMap((care) =>
          attended.flatMap((attends) =>
            deployments.map((has): Case => [question, { ...client, ...kinds, ...care, ...attends, ...has }]),
          ),
        ),
      ),
    ),
  );
}

describe('the table of docs/reach.md', () => {
  it('has only words that this test knows', () => {
    expect(LINES.length).toBeGreaterThan(0);
    for (const { line, fits } of LINES) expect(fits, line).not.toContain(undefined);
  });

  it('says what the function decides, in every combination', () => {
    for (const [question, person] of everyCase()) {
      const line = LINES.find(({ fits }) => fits.every((rule) => rule?.(question, person)));
      expect(line?.reach, JSON.stringify([question, person])).toBe(reachOf(question, person));
    }
  });

  it('has no line that never decides', () => {
    const deciding = everyCase().map((one) => LINES.find(({ fits }) => fits.every((rule) => rule?.(...one))));
    for (const line of LINES) expect(deciding, line.line).toContain(line);
  });
});
