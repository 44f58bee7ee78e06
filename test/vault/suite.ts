import { afterAll, beforeAll, beforeEach, describe } from 'vitest';
import type { OpenVaultPods, VaultPods } from '../harness/vault/stores.ts';
import { hidingContract } from './hiding.ts';
import { refreshingContract } from './refreshing.ts';
import { rekeyingContract } from './rekeying.ts';
import { stagingContract } from './staging.ts';
import { storingContract } from './storing.ts';
import { failingRefreshContract } from './trouble.ts';

/** All that the vault promises, wherever credentials rest. Every store passes every line of it. */
export function vaultContract(name: string, open: OpenVaultPods): void {
  describe(name, () => {
    let opened: VaultPods | undefined;
    beforeAll(async () => {
      opened = await open();
    });
    beforeEach(() => opened?.empty());
    afterAll(() => opened?.close());
    const pods = () => {
      if (opened === undefined) throw new Error('The store is open within tests only.');
      return opened;
    };
    storingContract(pods);
    stagingContract(pods);
    refreshingContract(pods);
    failingRefreshContract(pods);
    rekeyingContract(pods);
    hidingContract(pods);
  });
}
