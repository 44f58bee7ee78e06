import type { CredentialRef } from '@parley/shared/domain/credential';
import { createRedisBackend } from '@parley/shared/redis/backend';
import { connectCommands } from '@parley/shared/redis/client/connect';
import { createRedisVaultStore } from '@parley/shared/redis/vault/store';
import { createRefresher } from '@parley/shared/vault/refresh';
import { createVault } from '@parley/shared/vault/vault';
import type { Connector } from '../../services/api/src/accounts/connector.ts';
import { completeOpen } from '../../services/api/src/accounts/flows/complete-open.ts';
import type { CredentialTarget } from '../../services/api/src/accounts/targets.ts';
import type { AgentQuestion, AskOutcome } from '../../services/api/src/agents/run/question.ts';
import { createTypedIdentity } from '../../services/api/src/pages/identity/typed.ts';
import { engineOn } from '../harness/engines/engines.ts';
import { ROOMY } from '../harness/engines/settings.ts';
import { createTestBrowser } from '../harness/pages/browser.ts';
import { openHostedPages } from '../harness/pages/hosted-pages.ts';
import { startRedis } from '../harness/redis/redis-server.ts';
import { newKeys } from '../harness/vault/stores.ts';

export const PERSON = { tenant: 'kit', userId: 'ada' } as const;

export type KitPages = Awaited<ReturnType<typeof openKitPages>>;

/** The hosted pages of a pod with its vault in Redis, and a person in whose browser they are open and who is signed in. */
export async function openKitPages() {
  const pages = await openHostedPages();
  const { publicUrl } = pages;
  const started = await startRedis();
  const location = { kind: 'single', url: started.url } as const;
  const backend = createRedisBackend({ location, settings: ROOMY, timerQueues: 1 });
  const redis = connectCommands(location);
  const store = createRedisVaultStore(redis);
  const keys = newKeys();
  const vault = createVault({ store, keys });
  const engine = engineOn(backend, { settings: { connectBaseUrl: `${publicUrl}/auth/connect/` } });
  const accounts = new Map<string, CredentialTarget>();
  const all = () => [...accounts.values()];
  pages.serve(
    { engine, backend },
    {
      vault,
      keys,
      identity: createTypedIdentity(PERSON.tenant),
      targets: {
        find: (toolId) => accounts.get(toolId),
        credentials: all,
        connector: (id) => all().find(({ connector }) => connector.id === id)?.connector,
      },
    },
  );
  const browser = createTestBrowser({ publicUrl });
  await browser.enter('/auth/accounts', PERSON.userId);

  return {
    publicUrl,
    vault,
    fresh: createRefresher({ vault, leases: store }),
    completeOpen: (ref: CredentialRef) => completeOpen({ engine, vault, publicUrl }, ref),
    /** The pages connect this account from now on. */
    offer(toolId: string, connector: Connector): void {
      accounts.set(toolId, { kind: 'credential', toolId, service: toolId, connector });
    },
    /** Asks the person, who opens the page, agrees, goes through the provider's pages and comes back. Rejects with what the page then says. */
    async consent({ message, context, timeoutSeconds }: AgentQuestion): Promise<AskOutcome> {
      const { tenant, userId } = PERSON;
      const asked = {
        userId,
        mode: 'url',
        message,
        context: { trigger: 'credential_required', ...context },
        timeoutSeconds,
      } as const;
      const { row } = await engine.ask({ tenant, input: asked });
      const shown = await browser.open(row.definition.url ?? '');
      const left = await browser.submit(shown, 'start');
      const returned = left.link === undefined ? left : await browser.open(await browser.walk(left, userId));
      const { status } = (await engine.read({ kind: 'service', tenant }, row.id)).row;
      if (status !== 'accepted') throw new Error(`not connected: ${status}, ${returned.heading}`);
      return { elicitationId: row.id, status, text: status };
    },
    async close() {
      pages.close();
      redis.disconnect();
      await backend.close();
      await started.stop();
    },
  };
}
