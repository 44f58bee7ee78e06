import { createMemoryBackend } from '@parley/shared/memory/backend';
import type { Vault } from '@parley/shared/vault/vault';
import { expect, it, onTestFinished } from 'vitest';
import { createInstallations } from '../../../services/api/src/surfaces/slack/store/installations.ts';
import { createLinks } from '../../../services/api/src/surfaces/slack/store/links.ts';
import { newOwner } from '../../harness/engines/questions.ts';
import { ROOMY } from '../../harness/engines/settings.ts';

/** Links on memory, with the installations that end them. */
function parts() {
  const backend = createMemoryBackend(ROOMY);
  onTestFinished(() => backend.close());
  const records = backend.ownerRecords.slack;
  const links = createLinks(records);
  const vault: Pick<Vault, 'save' | 'remove'> = {
    save: async () => undefined as never,
    remove: async () => undefined as never,
  };
  const unused = async () => Promise.reject(new Error('not called'));
  const installations = createInstallations({ records, vault, links, fresh: unused, refresh: unused });
  return { records, links, installations };
}

it.each([
  ['a workspace', { teamId: 'T1' }, { teamId: 'T1' }],
  ['an enterprise', { enterpriseId: 'E1' }, { enterpriseId: 'E1', teamId: 'T1' }],
])(
  'the end of the installation of %s leaves nothing of its links with the person',
  async (_name, workspace, team) => {
    const { records, links, installations } = parts();
    const owner = newOwner();
    const kept = { teamId: 'T2', userId: 'U2' };
    await links.add({ ...team, userId: 'U1' }, owner);
    await links.add(kept, owner);
    await installations.forget(workspace);
    expect(await links.of(owner)).toEqual([kept]);
    expect((await records.list(owner, 'slack-link/')).map(({ value }) => value)).toEqual([
      JSON.stringify(kept),
    ]);
  },
);
