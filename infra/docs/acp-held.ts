import type { Standard } from './normative.ts';

/** The requirements of ACP, version 1. */
export const ACP: Standard = {
  rowsFile: 'infra/docs/acp-rows.tsv',
  page: 'docs/acp-normative.md',
  rowsCount: 61,
  head: [
    '# Requirements of ACP, and what holds them',
    '',
    'Written by `npm run docs`. The rows paraphrase what version 1 of the Agent Client Protocol demands of elicitation and of what it needs. Parley is on both',
    'sides: `parley acp` is the agent of an editor, and an [ACP agent as a delegate](acp.md#acp-agents-as-delegates) has Parley as its client, whose',
    'questions the widget and the pages show.',
    '',
    'There is no conformance kit. A test holds a row by naming it in its title; `npm test` fails for a row that',
    'nothing holds.',
  ],
  sections: [['ACP', 'Elicitation, prompt turns and sessions, version 1']],
  heldByKit: {},
  notRun: [],
  reasons: {
    'ACP-25':
      'By design: the token of `parley acp` comes with the command that starts it; no question grants access to Parley ([acp](acp.md#set-up-an-editor)).',
    'ACP-53':
      'By design: `parley acp` works in no files and no terminals of the editor, and calls no such method.',
    'ACP-41':
      'Holds for the questions of Parley itself, which have no addresses in their fields. Texts of others are passed on as text alone.',
  },
  open: [],
};
