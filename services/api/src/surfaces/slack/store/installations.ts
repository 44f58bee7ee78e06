/** Stores the installations of the app and their sealed tokens. Installing is in `http/install.ts`. */

import type { CredentialRef, OAuthCredential } from '@parley/shared/domain/credential';
import type { OwnerRecords } from '@parley/shared/ports/owner-records';
import { type FreshCredentialOf, InvalidGrantError } from '@parley/shared/vault/refresh';
import type { Vault } from '@parley/shared/vault/vault';
import { z } from 'zod';
import type { Links } from './links.ts';
import { installationOwner, teamsOwner, type Workspace } from './workspace.ts';

/** The data of an installation without its token. */
const Details = z.object({
  enterpriseId: z.string().optional(),
  teamId: z.string().optional(),
  /** Name of the workspace, or of the enterprise. */
  name: z.string(),
  botUserId: z.string(),
  botId: z.string().optional(),
});
export type InstallationDetails = z.infer<typeof Details>;

/** An installation with a token that is valid now. */
interface Installation extends InstallationDetails {
  readonly botToken: string;
}

/**
 * The installations of the app, by workspace or enterprise. Tokens are stored sealed in the vault. Every method throws
 * `unavailable`.
 */
export interface Installations {
  /** Stores or replaces an installation. */
  save(details: InstallationDetails, tokens: OAuthCredential): Promise<void>;
  /** The installation of a workspace or of its enterprise. Renews a token that expires soon. */
  find(workspace: Workspace): Promise<Installation | undefined>;
  /** Deletes the token, and everything that is stored about people of that workspace. */
  forget(workspace: Workspace): Promise<void>;
}

interface InstallationsDeps {
  readonly records: OwnerRecords;
  readonly vault: Pick<Vault, 'save' | 'remove'>;
  readonly links: Pick<Links, 'removeAll'>;
  readonly fresh: FreshCredentialOf;
  /** Exchanges a refresh token. Throws InvalidGrantError if Slack no longer accepts it. */
  readonly refresh: (tokens: OAuthCredential) => Promise<OAuthCredential>;
}

export { InvalidGrantError };

const NAME = 'installation';
/** How long an installation is stored without being used. */
const KEPT_MS = 400 * 24 * 3_600_000;

export function createInstallations({
  records,
  vault,
  links,
  fresh,
  refresh,
}: InstallationsDeps): Installations {
  async function findExactly(workspace: Workspace): Promise<Installation | undefined> {
    const owner = installationOwner(workspace);
    const stored = await records.read(owner, NAME, KEPT_MS);
    if (stored === undefined) return undefined;
    const found = await fresh(refOf(workspace), refresh);
    if (found.status !== 'usable') return undefined;
    const credential = found.credential.reveal();
    if (credential.kind !== 'oauth2') return undefined;
    return { ...Details.parse(JSON.parse(stored)), botToken: credential.accessToken };
  }

  /** The workspaces of an installation that contain linked people. */
  async function workspacesOf({ enterpriseId, teamId }: Workspace): Promise<Workspace[]> {
    if (teamId !== undefined || enterpriseId === undefined) return [{ enterpriseId, teamId }];
    const teams = await records.list(teamsOwner(enterpriseId), 'team/');
    return teams.map(({ value }) => ({ enterpriseId, teamId: value }));
  }

  return {
    async save(details, tokens) {
      const owner = installationOwner(details);
      // The token is stored first, because an installation without one is useless.
      await vault.save(refOf(details), tokens);
      await records.remove(owner, NAME);
      await records.putIfAbsent(owner, NAME, JSON.stringify(details), KEPT_MS);
    },
    async find({ enterpriseId, teamId }) {
      const ofTeam = teamId === undefined ? undefined : await findExactly({ teamId });
      if (ofTeam !== undefined || enterpriseId === undefined) return ofTeam;
      return findExactly({ enterpriseId });
    },
    async forget(workspace) {
      await vault.remove(refOf(workspace));
      await records.removeAll(installationOwner(workspace));
      for (const each of await workspacesOf(workspace)) await links.removeAll(each);
      // This is removed last, so that an interrupted deletion is found again.
      if (workspace.teamId === undefined && workspace.enterpriseId !== undefined)
        await records.removeAll(teamsOwner(workspace.enterpriseId));
    },
  };
}

function refOf(workspace: Workspace): CredentialRef {
  return { ...installationOwner(workspace), toolId: 'slack', connectorId: 'installation' };
}
