import type { Mutant } from './mutant.ts';

const TABLE = 'shared/src/domain/elicitations/transition.ts';
const TABLE_TEST = 'test/unit/domain/transition.test.ts';

export const ELICITATIONS: readonly Mutant[] = [
  {
    defect: 'An answer is accepted after its deadline.',
    file: TABLE,
    find: "if (!isTerminal(row.status) && now >= row.expiresAt && command.type !== 'expire') {",
    replace: 'if (false) {',
    killedBy: TABLE_TEST,
  },
];
