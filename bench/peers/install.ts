import { installPackages } from '../../test/harness/install-packages.ts';

const FOLDER = new URL('./', import.meta.url);

/** Installs the packages of the peers, unless they are there in the versions of package.json. Rejects with npm's reason. */
export function installPeers(progress: (text: string) => void): Promise<void> {
  return installPackages(FOLDER, (text) => progress(`peers: ${text}`));
}
