/** Rows of docs/a2a-normative.md that a test cannot hold, or that need none, each with its reason. */
export const A2A_REASONS: Readonly<Record<string, string>> = {
  'A2A-27': 'By design: credentials come over the hosted connect pages, with https ([connect](connect.md)).',
  'A2A-28': 'Does not apply: no credential goes in band ([a2a](a2a.md)).',
  'A2A-30': 'The extension defines what an answer means ([a2a](a2a.md)).',
  'A2A-31': 'By design: an answer settles one question, once; a later call asks again.',
};

/** Rows that nothing holds yet: those of a client, which Parley is not. */
export const A2A_OPEN: readonly string[] = ['A2A-24', 'A2A-25', 'A2A-26', 'A2A-35', 'A2A-38'];
