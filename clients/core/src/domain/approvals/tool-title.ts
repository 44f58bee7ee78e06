import type { ApprovalTool } from './approval.ts';

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
