import { readableLine } from '../readable.ts';
import type { ApprovalTool } from './approval.ts';
import { type Risk, riskNote } from './risk.ts';

/** What people read as the name of a tool's server: its title, or its id in a record of a build that stored none. */
export function titleOfServer({
  server,
  serverTitle = '',
}: Pick<ApprovalTool, 'server' | 'serverTitle'>): string {
  return serverTitle.trim() === '' ? server : serverTitle;
}

/** What people read as the name of a tool: its title, or its name where its server gave none or a blank one. */
export function titleOfTool({ name, title = '' }: Pick<ApprovalTool, 'name' | 'title'>): string {
  return title.trim() === '' ? name : title;
}

interface TitledCall {
  readonly agent: string;
  readonly tool: ApprovalTool;
  readonly risk?: Risk | undefined;
}

/**
 * What an approval is about, on one line, as surfaces without cards say it. The agent, the tool and the server come first:
 * the server chooses the title.
 */
export function callText({ agent, tool, risk }: TitledCall): string {
  const { name, title } = tool;
  const call = `${agent} wants to call ${name} of ${titleOfServer(tool)}${riskNote(risk)}`;
  return readableLine(title === undefined || title.trim() === '' ? call : `${call}: ${title}`);
}
