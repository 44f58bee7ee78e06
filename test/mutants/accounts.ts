import type { Mutant } from './mutant.ts';

const CONNECT = 'services/api/src/surfaces/connect';
const TESTS = 'test/integration/connect';

/** Accounts that people connect: the hosted pages, the links, the providers, and what becomes of a credential. */
export const ACCOUNTS: readonly Mutant[] = [
  {
    defect: 'A callback of the provider is taken in a browser that did not begin the flow.',
    file: `${CONNECT}/handlers/callback.ts`,
    find: 'found === undefined || found.flow.browser !== fingerprintOf(visit.browser)',
    replace: 'found === undefined',
    killedBy: `${TESTS}/attacks.test.ts`,
    test: 'in another browser than the one that began gives nothing',
  },
  {
    defect: 'A form of a hosted page is taken without the token of that page.',
    file: `${CONNECT}/handlers/form.ts`,
    find: 'if (!isOurForm(visit.browser, single(fields, FORM_FIELDS.csrf))) return { view: refused };',
    replace: '',
    killedBy: `${TESTS}/forms.test.ts`,
    test: 'is refused without its token',
  },
  {
    defect: 'A person of another tenant with the same user id counts as the owner of a question.',
    file: `${CONNECT}/handlers/access.ts`,
    find: 'one.tenant === other.tenant && one.userId === other.userId',
    replace: 'one.userId === other.userId',
    killedBy: `${TESTS}/answer-page.test.ts`,
    test: 'by a person of another tenant with the same id is refused',
  },
  {
    defect:
      'A question is completed before its credential is staged, so that a pod that dies between loses it.',
    file: `${CONNECT}/flows/ending.ts`,
    find: '  await deps.vault.stage(flow, credential,',
    replace:
      '  await complete(deps, flow.tenant, elicitationId);\n  await deps.vault.stage(flow, credential,',
    killedBy: `${TESTS}/endings.test.ts`,
    test: 'at any step of a real flow loses nothing',
  },
  {
    defect: 'The credential of a declined question is deleted here and stays valid at the provider.',
    file: `${CONNECT}/flows/ending.ts`,
    find: 'if (staged !== undefined) await targets.connector(flow.connectorId)?.revoke(staged.reveal());',
    replace: '',
    killedBy: `${TESTS}/endings.test.ts`,
    test: 'while the user answers decline',
  },
  {
    defect: 'A second tab replaces the credential that the first tab brought.',
    file: `${CONNECT}/flows/ending.ts`,
    find: 'if (earlier !== undefined) {',
    replace: 'if (earlier?.type === "dropped") {',
    killedBy: `${TESTS}/races.test.ts`,
    test: 'keeps the credential of the faster one',
  },
  {
    defect: 'A callback that names another issuer has its code sent to the token endpoint.',
    file: `${CONNECT}/connectors/oauth2-finish.ts`,
    find: "if (named && (always || searchParams.has('iss')) && issuer !== keep.issuer)",
    replace: 'if (named && !always)',
    killedBy: 'test/integration/connectors/oauth2-attacks.test.ts',
    test: 'of which a parameter was changed',
  },
  {
    defect: 'A guarded call connects to what a name resolves to after the check.',
    file: 'shared/src/runtime/guarded-fetch.ts',
    find: 'lookup: pinnedLookup(addresses),',
    replace: '',
    killedBy: 'test/integration/connectors/guard.test.ts',
    test: 'DNS rebinding has no effect',
  },
  {
    defect: 'An answer link serves every browser that has it.',
    file: `${CONNECT}/answer/links.ts`,
    find: 'if (now >= link.opensUntil && (await store.read(name))?.taken !== true) return false;',
    replace: 'if ((await store.read(name))?.taken === true) return true;',
    killedBy: `${TESTS}/answer-links.test.ts`,
    test: 'the link serves the first browser that opens it',
  },
  {
    defect: 'Disconnecting an account does not revoke its credential at the provider.',
    file: `${CONNECT}/disconnect.ts`,
    find: 'const revoked = await connector.revoke(removed.reveal());',
    replace: "const revoked = 'revoked' as const;",
    killedBy: `${TESTS}/accounts.test.ts`,
    test: 'disconnecting deletes and revokes',
  },
  {
    defect: 'A webhook that nobody signed completes a question.',
    file: `${CONNECT}/connectors/nango-webhook.ts`,
    find: "if (typeof given !== 'string' || !/^[0-9a-f]{64}$/iu.test(given)) return false;",
    replace: "if (typeof given !== 'string' || !/^[0-9a-f]{64}$/iu.test(given)) return true;",
    killedBy: `${TESTS}/report.test.ts`,
    test: 'is believed only with its signature',
  },
  {
    defect: 'A quotation mark of a question ends an attribute of a hosted page.',
    file: `${CONNECT}/pages/html.ts`,
    find: '.replace(/[&<>"\'`]/gu,',
    replace: '.replace(/[&<>`]/gu,',
    killedBy: 'test/unit/connect/connect-pages.test.ts',
    test: 'escapes every',
  },
  {
    defect: 'A notice goes to a Slack user whose link has ended on the other side.',
    file: 'services/api/src/surfaces/slack/store/links.ts',
    find: '!== undefined && isOf(link, owner) && (await isIndexed(link, user));',
    replace: '!== undefined;',
    killedBy: 'test/integration/slack/links.test.ts',
    test: 'with both sides or none',
  },
  {
    defect: 'A thread in Slack whose link has ended is still shown what its earlier person is asked.',
    file: 'services/api/src/surfaces/slack/delivery/reach.ts',
    find: 'return isLinked && installation',
    replace: 'return installation',
    killedBy: 'test/unit/slack/delivery.test.ts',
    test: 'nothing more',
  },
];
