import { z } from 'zod';

export const Issue = z.object({
  number: z.int().positive(),
  title: z.string(),
  body: z.string(),
  state: z.enum(['open', 'closed']),
});
export type Issue = z.infer<typeof Issue>;

/** A change that a tool made. */
export interface Execution {
  readonly subject: string;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** The `_meta` of the call, as the tool received it. */
  readonly meta: Readonly<Record<string, unknown>>;
}

/** The initial issues of every person. */
const FIRST_TITLES = ['The login page is slow', 'The export forgets a column'] as const;

/** Every person's own issues, and all changes to them. Numbers begin at 1 for each person. */
export interface IssueStore {
  issuesOf(subject: string): Issue[];
  find(subject: string, number: number): Issue | undefined;
  create(subject: string, title: string, body: string): Issue;
  close(issue: Issue): Issue;
}

export function createIssueStore(): IssueStore {
  const bySubject = new Map<string, Issue[]>();
  const issuesOf = (subject: string): Issue[] => {
    const known = bySubject.get(subject);
    if (known !== undefined) return known;
    const fresh = FIRST_TITLES.map((title, index): Issue => newIssue(index + 1, title, ''));
    bySubject.set(subject, fresh);
    return fresh;
  };
  return {
    issuesOf,
    find: (subject, number) => issuesOf(subject).find((issue) => issue.number === number),
    create(subject, title, body) {
      const issues = issuesOf(subject);
      const issue = newIssue(issues.length + 1, title, body);
      issues.push(issue);
      return issue;
    },
    close(issue) {
      issue.state = 'closed';
      return issue;
    },
  };
}

function newIssue(number: number, title: string, body: string): Issue {
  return { number, title, body, state: 'open' };
}
