import { currentEvents, type RunCase } from '../run-case.ts';
import type { DecisionEvent } from '../run-events.ts';

// No reply, recorded, and to be sent again.
const REPLIES = [0, 200, 503];

/** R14: a call that needs an approval reaches its server after the person approved it, with the arguments that they approved. */
export function* callsAreApproved({ decided }: RunCase): Generator<string> {
  const decisions = new Map<string, DecisionEvent>();
  for (const event of decided) {
    const { type, call } = event;
    if (type === 'decision') {
      decisions.set(call, event);
      const { reply = 0 } = event;
      if (!REPLIES.includes(reply)) yield `the decision on ${call} got ${reply}`;
    } else if (needsApproval(call)) {
      const decision = decisions.get(call);
      if (decision === undefined) yield `${call} reached its server before anyone decided`;
      else if (decision.choice === 'deny') yield `${call} was denied, and reached its server`;
      else if (decision.amount !== event.amount)
        yield `${call} was approved with ${decision.amount}, and made with ${event.amount}`;
    }
  }
}

/** R14: each such call is one approval, shown once and settled once. */
export function* approvalsOnce({ finals }: RunCase): Generator<string> {
  for (const { feed } of finals) {
    const requested = feed.filter(({ name }) => name === 'approval-request');
    const ids = new Set(requested.map(({ approvalId }) => approvalId));
    const calls = currentEvents(feed).filter(
      ({ name, call }) => name === 'tool-called' && needsApproval(call),
    );
    if (ids.size !== calls.length) yield `${calls.length} calls became ${ids.size} approvals`;
    if (requested.length !== ids.size) yield 'an approval is shown as new more than once';
    const settled = feed.filter(({ name }) => name === 'approval-resolved');
    if (settled.length !== ids.size) yield `${ids.size} approvals were settled ${settled.length} times`;
  }
}

/** Calls of one tool need an approval. */
function needsApproval(call: string | undefined): boolean {
  return call?.startsWith('pay') === true;
}
