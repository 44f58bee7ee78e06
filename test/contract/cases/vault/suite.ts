import { afterAll, beforeAll, beforeEach, describe } from 'vitest';
import type { Contract } from '../../../harness/engines/contract.ts';
import type { VaultPods } from '../../../harness/vault/stores.ts';
import { hidingContract } from './hiding.ts';
import { refreshingContract } from './refreshing.ts';
import { rekeyingContract } from './rekeying.ts';
import { stagingContract } from './staging.ts';
import { storingContract } from './storing.ts';
import { failingRefreshContract } from './trouble.ts';

type Part = (pods: () => VaultPods) => void;

function describeVault({ openVault }: Contract, name: string, parts: readonly Part[]): void {
  if (openVault === undefined) return;
  describe(name, () => {
    let opened: VaultPods | undefined;
    beforeAll(async () => {
      opened = await openVault();
    });
    beforeEach(() => opened?.empty());
    afterAll(() => opened?.close());
    const pods = () => {
      if (opened === undefined) throw new Error('The store is open within tests only.');
      return opened;
    };
    for (const part of parts) part(pods);
  });
}

/** What the vault promises, wherever credentials rest. */
export function vaultContract(contract: Contract): void {
  describeVault(contract, 'the vault', [storingContract, stagingContract, rekeyingContract, hidingContract]);
}

/** How pods refresh the credentials of a vault. */
export function refreshContract(contract: Contract): void {
  describeVault(contract, 'the refreshes of a vault', [refreshingContract, failingRefreshContract]);
}
