import type { Mutant } from './mutant.ts';

const SECRETS = 'services/api/src/agents/tools/secrets.ts';
const SECRETS_TEST = 'test/integration/turns/secrets.test.ts';
const APPROVALS_TEST = 'test/integration/turns/approvals.test.ts';

export const TURNS: readonly Mutant[] = [
  {
    defect: 'A model reads a secret that a tool repeats.',
    file: SECRETS,
    find: 'return withoutSecrets(outcome, (await values) ?? []);',
    replace: 'return outcome;',
    killedBy: SECRETS_TEST,
    test: 'removes every repetition',
  },
  {
    defect: 'A call consumes one secret although another one is missing.',
    file: SECRETS,
    find: 'if (!(await retryWhileUnavailable(() => secrets.awaits(request), signal)))',
    replace: 'if (secrets === undefined)',
    killedBy: SECRETS_TEST,
    test: 'consumes none of them',
  },
  {
    defect: 'The arguments that a person edited are lost with the pod that made the call.',
    file: 'services/api/src/agents/tools/approvals/request.ts',
    find: '...(isEdited && { input }) });',
    replace: '});',
    killedBy: APPROVALS_TEST,
    test: 'as they decided',
  },
  {
    defect: 'A secret argument of a call is shown on the stream of its turn.',
    file: 'services/api/src/agents/tools/approvals/gate.ts',
    find: 'return fault === undefined ? shown : MASK;',
    replace: 'return input;',
    killedBy: APPROVALS_TEST,
    test: 'secrets masked',
  },
  {
    defect: 'A call is sent before its record says so, so that a take-over repeats it.',
    file: 'services/api/src/agents/tools/call-tool.ts',
    find: "await save({ state: 'dispatched' });",
    replace: "void save({ state: 'intended' });",
    killedBy: 'test/integration/turns/agent-run.test.ts',
    test: 'dispatched before it is sent',
  },
  {
    defect: 'A pod gives a turn away whose call is still out.',
    file: 'services/api/src/agents/tools/call-tool.ts',
    find: "record().state === 'dispatched' ? (wait) => wait() : part.waiting;",
    replace: 'part.waiting;',
    killedBy: 'test/integration/turns/detach.test.ts',
    test: 'keeps the turn on its pod',
  },
  {
    defect: 'Agents delegate to each other without an end.',
    file: 'services/api/src/agents/delegation/delegate.ts',
    find: 'if (from.depth >= DEPTH_MAX) {',
    replace: 'if (from.depth > 100) {',
    killedBy: 'test/integration/turns/delegation.test.ts',
    test: 'as a message, and continues',
  },
  {
    defect: 'A reader whose text was superseded keeps it beside the new one.',
    file: 'services/api/src/surfaces/ai-sdk/encoder.ts',
    find: "if (event.type === 'step-restarted' && chunks.hasShown(event.step)) {",
    replace: "if (event.type === 'turn-attached' && chunks.hasShown(0)) {",
    killedBy: 'test/unit/encoders/ai-sdk.test.ts',
    test: 'cuts off a reader',
  },
  {
    defect: 'A text that came live comes again with the feed.',
    file: 'services/api/src/turns/text.ts',
    find: 'passed = Math.max(passed, offset + text.length);',
    replace: 'passed = Math.max(passed, offset);',
    killedBy: 'test/unit/encoders/live-texts.test.ts',
  },
  {
    defect: 'Two requests of one user take the budget of answers although the call is refused.',
    file: 'services/api/src/http/limits/call-limits.ts',
    find: "answers !== undefined && !limits.isUsedUp('user-writes', caller);",
    replace: 'answers !== undefined;',
    killedBy: 'test/integration/http/call-limits.test.ts',
    test: 'before anything is read',
  },
];
