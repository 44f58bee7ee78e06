/** Where a person's secrets are stored on this machine, by name. */
export interface SecretStore {
  /** The place as shown to the person: `the keyring of the system`, or the path of the file. */
  readonly place: string;
  set(name: string, value: string): Promise<void>;
  get(name: string): Promise<string | undefined>;
  /** Removes a secret. True if it existed. */
  remove(name: string): Promise<boolean>;
}

/** A reference to a secret, which programs may pass on: it contains the name, never the value. */
export const SECRET_REFERENCE = /^secret:([A-Za-z0-9._-]{1,128})$/;

export function referenceOf(name: string): string {
  return `secret:${name}`;
}
