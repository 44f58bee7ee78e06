import { readableLine } from '../readable.ts';
import type { ApprovalTool } from './approval.ts';
import { type Risk, riskNote } from './risk.ts';

/** The readable name of a tool's server: its title, or its id in a record of a build that stored no title. */
export function titleOfServer({
  server,
  serverTitle = '',
}: Pick<ApprovalTool, 'server' | 'serverTitle'>): string {
  return serverTitle.trim() === '' ? server : serverTitle;
}

/** The readable name of a tool: its title, or its name if its server gave no title or a blank one. */
export function titleOfTool({ name, title = '' }: Pick<ApprovalTool, 'name' | 'title'>): string {
  return title.trim() === '' ? name : title;
}

interface TitledCall {
  readonly agent: string;
  readonly tool: ApprovalTool;
  readonly risk?: Risk | undefined;
}

/**
 * One line about an approval, for surfaces without cards. Agent, tool and server come first, because the server chooses the
 * title and could imitate them.
 */
export function callText({ agent, tool, risk }: TitledCall): string {
  const { name, title } = tool;
  const call = `${agent} wants to call ${name} of ${titleOfServer(tool)}${riskNote(risk)}`;
  return readableLine(title === undefined || title.trim() === '' ? call : `${call}: ${title}`);
}
