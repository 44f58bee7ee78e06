import { titleOfServer } from '@parley/core/domain/approvals/tool-title';
import { readableLine } from '@parley/core/domain/readable';
import type { Approval } from '@parley/sdk';

/**
 * What an approval is about, on one line, as cards and channels say it. The agent, the tool and the server come first: the
 * server chooses the title.
 */
export function approvalText({ agent, tool }: Approval): string {
  const { name, title } = tool;
  const call = `${agent} wants to call ${name} of ${titleOfServer(tool)}`;
  return readableLine(title === undefined || title.trim() === '' ? call : `${call}: ${title}`);
}
