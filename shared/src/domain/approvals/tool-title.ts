import type { ApprovalTool } from './approval.ts';

/** What people read as the name of a tool: its title, or its name where its server gave none or a blank one. */
export function titleOfTool({ name, title = '' }: Pick<ApprovalTool, 'name' | 'title'>): string {
  return title.trim() === '' ? name : title;
}
