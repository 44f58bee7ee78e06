import type { Standard } from './normative.ts';

/** The requirements of A2A, versions 1.0 and 0.3. */
export const A2A: Standard = {
  rowsFile: 'infra/docs/a2a-rows.tsv',
  page: 'docs/a2a-normative.md',
  rowsCount: 59,
  head: [
    '# Requirements of A2A, and what holds them',
    '',
    'Written by `npm run docs`. The rows paraphrase what A2A 1.0, and 0.3 where a row says so, demands of tasks that wait for a person, and of',
    'what those need. There is no conformance kit. A test holds a row by naming it in its title; `npm test` fails for a row that nothing holds.',
  ],
  sections: [['A2A', 'Tasks that wait, and what they need']],
  heldByKit: {},
  notRun: [],
  reasons: {
    'A2A-27':
      'By design: credentials come over the hosted connect pages, with https ([connect](connect.md)).',
    'A2A-28': 'Does not apply: no credential goes in band ([a2a](a2a.md)).',
    'A2A-30': 'The extension defines what an answer means ([a2a](a2a.md)).',
    'A2A-31': 'By design: an answer settles one question, once; a later call asks again.',
  },
  open: [],
};
