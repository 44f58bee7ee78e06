import { titleOfTool } from '@parley/core/domain/approvals/tool-title';
import { readableLine } from '@parley/core/domain/readable';
import type { Approval } from '../approval.ts';
import type { ApprovalStrings } from '../strings/approval.ts';
import type { Strings } from '../strings/strings.ts';
import type { CallModel } from './model.ts';

/** The texts that an approval card uses. */
export type CardStrings = Strings & ApprovalStrings;

/** The name of the asker, for use in sentences. */
export function askerOf(view: Approval | undefined, { someAgent }: Pick<Strings, 'someAgent'>): string {
  return view?.agent?.trim() ? readableLine(view.agent) : someAgent;
}

/** The tool's title, or else its name. */
export function toolNameOf({ tool }: Pick<Approval, 'tool'>): string {
  return readableLine(titleOfTool(tool));
}

/** What a step asks for. */
export function titleOf(views: readonly Approval[], strings: CardStrings): string {
  const [first] = views;
  const agent = askerOf(first, strings);
  return first === undefined || views.length > 1
    ? strings.approvalsTitle(agent, views.length)
    : strings.approvalTitle(agent, toolNameOf(first));
}

/** How an approval ended; undefined while it is pending. */
export function endOfCall({ view, state, isHere }: CallModel, strings: CardStrings): string | undefined {
  if (state === 'gone') return strings.approvalGone;
  if (view === undefined || view.status === 'pending') return undefined;
  return strings.approvalEnded({
    status: view.status,
    here: isHere || state !== 'elsewhere',
    reason: view.reason,
  });
}
