import type { Approval } from '@parley/sdk';
import { readableLine } from '@parley/shared/domain/readable';

/**
 * What an approval is about, on one line, as cards and channels say it. The agent, the tool and the server come first: the
 * server chooses the title.
 */
export function approvalText({ agent, tool: { server, name, title } }: Approval): string {
  const call = `${agent} wants to call ${name} of ${server}`;
  return readableLine(title === undefined || title.trim() === '' ? call : `${call}: ${title}`);
}
