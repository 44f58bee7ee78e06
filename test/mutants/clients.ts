import type { Mutant } from './mutant.ts';

const CARD_STATES = 'test/browser/widget/states.test.ts';

export const CLIENTS: readonly Mutant[] = [
  {
    defect:
      'A message of unknown outcome that is sent again gets another idempotency key: a second turn begins.',
    file: 'clients/sdk/src/chat/keys.ts',
    find: 'if (last?.message === message) return last.key;',
    replace: 'if (last?.message === message) keys.delete(chatId);',
    killedBy: 'test/unit/sdk/chat-resend.test.ts',
  },
  {
    defect: 'A chat whose reply to Stop was lost is told that no turn was running.',
    file: 'clients/sdk/src/chat/stop.ts',
    find: ' || isReplyLost;',
    replace: ';',
    killedBy: 'test/unit/sdk/chat-stop.test.ts',
  },
  {
    defect: 'A client comes back sooner than Retry-After asks for.',
    file: 'clients/core/src/retry.ts',
    find: 'Math.max(fullMs / 2, requestedMs)',
    replace: 'Math.min(fullMs / 2, requestedMs + fullMs)',
    killedBy: 'test/unit/sdk/chat-transport.test.ts',
  },
  {
    defect: 'The end of a newer server, which the client does not know, is taken for an acceptance.',
    file: 'clients/sdk/src/outcome.ts',
    find: `throw new ParleyClientError(
        'internal',
        'The elicitation ended with a status that this client does not know.',
      );`,
    replace: "return { status: 'accepted', content: undefined, elicitation };",
    killedBy: 'test/integration/sdk/sdk.test.ts',
    test: 'never takes an unknown status for an acceptance',
  },
  {
    defect: 'A secret answer is written into the log of the program that asked for it.',
    file: 'clients/sdk/src/elicit/secret-answer.ts',
    find: `toJSON(): string {
    return MASK;`,
    replace: `toJSON(): string {
    return this.#value;`,
    killedBy: 'test/unit/sdk/elicitor.test.ts',
  },
  {
    defect: 'The effects of one workflow for two people have the same key.',
    file: 'clients/sdk/src/workflow/run.ts',
    find: "userId === undefined ? '' :",
    replace: "userId !== undefined ? '' :",
    killedBy: 'test/unit/sdk/workflow.test.ts',
  },
  {
    defect: 'A card forgets that a question is sensitive, and shows its answer again.',
    file: 'clients/widget/src/server/calls.ts',
    find: '...(content && !rest.sensitive && { content })',
    replace: '...(content && { content }), sensitive: false',
    killedBy: CARD_STATES,
    test: 'never repeats a sensitive answer',
  },
  {
    defect: 'A decision without a reply is sent again, minutes after the person made it.',
    file: 'clients/widget/src/server/calls.ts',
    find: 'const DECIDING = { triesMax: 1, keepalive: true };',
    replace: 'const DECIDING = ANSWERING;',
    killedBy: 'test/unit/widget/server.test.ts',
  },
  {
    defect: 'A card goes back to an earlier state when old news arrive late.',
    file: 'clients/widget/src/elicitation.ts',
    find: 'if (step !== 0) return step > 0 ? next : known;',
    replace: 'if (step !== 0) return next;',
    killedBy: 'test/unit/widget/elicitation.test.ts',
  },
  {
    defect: 'A call can be approved as soon as the button of another call has been in view.',
    file: 'clients/widget/src/approval-card/in-view.ts',
    find: 'return this.#timers.get(idsOf(calls))?.isReady ?? false;',
    replace:
      'return this.#timers.has(idsOf(calls)) && [...this.#timers.values()].some(({ isReady }) => isReady);',
    killedBy: 'test/browser/widget/look.test.ts',
    test: 'lets a call be approved once its own button has been in view',
  },
  {
    defect: 'The link of a card can be pressed before the person has seen it.',
    file: 'clients/widget/src/card/in-view.ts',
    find: 'const IN_VIEW_MS = 1_000;',
    replace: 'const IN_VIEW_MS = 0;',
    killedBy: CARD_STATES,
    test: 'opens nothing until its link has been in view for a second',
  },
  {
    defect: 'A half-typed date is sent as no answer.',
    file: 'clients/widget/src/form/view.ts',
    find: '?.validity.badInput === true;',
    replace: '?.validity.customError === true;',
    killedBy: 'test/browser/widget/form.test.ts',
    test: 'never sends a half-typed date as no answer',
  },
  {
    defect:
      'The chat page sends a message again after days, when its key has expired: what it asked for is done twice.',
    file: 'demo/page/turn.js',
    find: 'asked !== undefined && Date.now() - asked.at < SENDABLE_MS;',
    replace: 'asked !== undefined;',
    killedBy: 'test/browser/chat-page/page.test.ts',
    test: 'for days does not ask again what was',
  },
  {
    defect: 'The time that is left begins anew when a question of the inbox is chosen in a terminal.',
    file: 'clients/cli/src/commands/inbox.ts',
    find: 'record, left);',
    replace: 'record);',
    killedBy: 'test/integration/sdk/sdk.test.ts',
    test: 'answered elsewhere',
  },
];
