import type { Mutant } from './mutant.ts';

const HTTP = 'services/api/src/http';
const ATTACKS = 'test/attacks/attacks.test.ts';

/** Who may call, what is read of a hostile request, and what leaves a pod. */
export const SECURITY: readonly Mutant[] = [
  {
    defect: 'The comparison of two secrets ends at once when their lengths differ.',
    file: 'services/api/src/accounts/oauth/secret-text.ts',
    find: 'return timingSafeEqual(digest(left), digest(right));',
    replace: 'return left.length === right.length && timingSafeEqual(digest(left), digest(right));',
    killedBy: 'test/attacks/constant-time.test.ts',
  },
  {
    defect: 'The first service key that matches ends the comparing, so that the time tells which key it was.',
    file: `${HTTP}/auth.ts`,
    find: 'services.filter((candidate) => timingSafeEqual(candidate.hash, hash)).at(0)',
    replace: 'services.find((candidate) => timingSafeEqual(candidate.hash, hash))',
    killedBy: 'test/attacks/constant-time.test.ts',
  },
  {
    defect: 'The tenant of a token is believed, whether the issuer speaks for it or not.',
    file: `${HTTP}/token.ts`,
    find: 'return tenants.includes(claim) ? claim : undefined;',
    replace: 'return claim;',
    killedBy: 'test/attacks/jwks.test.ts',
    test: 'a tenant it does not speak for',
  },
  {
    defect: 'The Redis user of the pods reads keys that are not those of Parley.',
    file: 'infra/redis/users.acl',
    find: '~parley:*',
    replace: '~*',
    killedBy: 'test/attacks/exposure.test.ts',
    test: 'that user may not',
  },
  {
    defect: 'Of two Authorization headers the last one is taken.',
    file: `${HTTP}/auth.ts`,
    find: "if (header !== undefined) throw unauthenticated('the header Authorization was sent twice');",
    replace: '',
    killedBy: ATTACKS,
    test: 'two Authorization headers are 401',
  },
  {
    defect: 'A verified token is accepted from the cache after its expiry.',
    file: `${HTTP}/auth.ts`,
    find: 'const ttl = Math.min(CACHED_MS_MAX, expiresAtMs - Date.now());',
    replace: 'const ttl = CACHED_MS_MAX;',
    killedBy: 'test/attacks/jwks.test.ts',
    test: 'is not accepted from the cache after its expiry',
  },
  {
    defect: 'A body may use the key that reaches for prototypes.',
    file: `${HTTP}/json.ts`,
    find: "POISONED_KEY = '__proto__'",
    replace: "POISONED_KEY = ''",
    killedBy: ATTACKS,
    test: 'S8 prototypes',
  },
  {
    defect: 'Answers of strangers use up the budget of the answers to a question of somebody else.',
    file: `${HTTP}/limits/call-limits.ts`,
    find: "await take('answers', owner, settings.elicitationAnswers,",
    replace: "await take('answers', { ...owner, userId: '' }, settings.elicitationAnswers,",
    killedBy: ATTACKS,
    test: 'those of others do not count',
  },
  {
    defect: 'A body one byte above the limit is read.',
    file: `${HTTP}/body.ts`,
    find: 'if (declared > bytesMax) throw tooLarge(bytesMax);',
    replace: 'if (declared > bytesMax + 1) throw tooLarge(bytesMax + 1);\n  bytesMax += 1;',
    killedBy: ATTACKS,
    test: 'B1 a body of exactly the limit is read',
  },
  {
    defect: 'The log line of a question shows the question.',
    file: 'shared/src/observe/observer.ts',
    find: 'log.info(fieldsOf(row, row.settlement?.surface), ENDINGS[row.status].message);',
    replace:
      'log.info(fieldsOf(row, row.settlement?.surface), ENDINGS[row.status].message + row.definition.message);',
    killedBy: ATTACKS,
    test: 'S19 secrets',
  },
  {
    defect: 'Items of a list that change places in an edit get the masked secrets of each other.',
    file: 'shared/src/domain/approvals/edit.ts',
    find: 'if (Array.isArray(shown)) return once(before, () => canonicalJson(before) === canonicalJson(after));',
    replace: '',
    killedBy: 'test/unit/domain/approval-arguments.test.ts',
    test: 'items of a list that change places',
  },
  {
    defect: 'An error of an MCP server shows the credential that the server was sent.',
    file: 'services/api/src/agents/mcp/transports/door.ts',
    find: 'error: clean(visibleTexts(error))',
    replace: 'error: visibleTexts(error)',
    killedBy: 'test/integration/mcp/questions.test.ts',
    test: 'requires pages that hold neither the credential',
  },
  {
    defect: 'All calls of a card can be approved at once when one of them has just come.',
    file: 'clients/widget/src/approval-card/in-view.ts',
    find: "return calls.map(({ id }) => id).join(' ');",
    replace: "return calls.length === 1 ? (calls[0]?.id ?? '') : '';",
    killedBy: 'test/browser/widget/look.test.ts',
    test: 'lets all calls be approved once their button has been in view',
  },
];
