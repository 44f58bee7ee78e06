import type { App } from '@slack/bolt';
import type { ListenerDeps } from './deps.ts';

/** Deletes everything about a workspace when the app is removed or its tokens are revoked. */
export function listenToInstalls(app: App, { installations }: ListenerDeps): void {
  app.event('app_uninstalled', ({ body }) => installations.forget(workspaceOf(body)));
  app.event('tokens_revoked', async ({ event, body }) => {
    const { tokens } = event as { readonly tokens?: { readonly bot?: readonly string[] } };
    // Tokens of users are never stored, so only revoked bot tokens matter.
    if ((tokens?.bot?.length ?? 0) > 0) await installations.forget(workspaceOf(body));
  });
}

function workspaceOf(body: object) {
  const { team_id, enterprise_id, authorizations } = body as {
    readonly team_id?: string;
    readonly enterprise_id?: string;
    readonly authorizations?: readonly { readonly is_enterprise_install?: boolean }[];
  };
  const isEnterprise = authorizations?.[0]?.is_enterprise_install === true;
  return {
    ...(enterprise_id !== undefined && { enterpriseId: enterprise_id }),
    ...(!isEnterprise && team_id !== undefined && { teamId: team_id }),
  };
}
