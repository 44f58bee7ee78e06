/** What an operator may do in a tenant. Roles combine. */
export const OPERATOR_ROLES = ['viewer', 'operator', 'reader'] as const;
export type OperatorRole = (typeof OPERATOR_ROLES)[number];

/** The signed-in operator, as `GET /console/session` returns it. */
export interface ConsoleSession {
  readonly name: string;
  readonly tenants: readonly { readonly tenant: string; readonly roles: readonly OperatorRole[] }[];
  /** The token against cross-site requests, which every call must send. */
  readonly csrf: string;
  /** The name of the deployment. */
  readonly title: string;
  readonly logoUrl?: string;
  /** A BCP 47 tag. */
  readonly language?: string;
}

const SESSION_PATH = '/console/session';

/** The address of the sign-in, which redirects the operator back to the page at `path`. */
export function signInHref(path: string): string {
  return `/console/sign-in?${new URLSearchParams({ to: path })}`;
}

/** Reads the signed-in operator; undefined when nobody has signed in. Throws when the server cannot tell. */
export async function readSession(): Promise<ConsoleSession | undefined> {
  const response = await fetch(SESSION_PATH, {
    headers: { accept: 'application/json' },
    credentials: 'same-origin',
  });
  if (response.status === 401) return undefined;
  if (!response.ok) throw new Error(`The session could not be read: ${response.status}`);
  return (await response.json()) as ConsoleSession;
}

/** Ends the session on every pod. */
export async function signOut({ csrf }: Pick<ConsoleSession, 'csrf'>): Promise<void> {
  const response = await fetch('/console/sign-out', {
    method: 'POST',
    headers: { 'parley-csrf': csrf },
    credentials: 'same-origin',
  });
  if (!response.ok && response.status !== 401) throw new Error(`Not signed out: ${response.status}`);
}
