/** Where secrets of a person rest on this machine. A name leads to one secret. */
export interface SecretStore {
  /** What the person is told: `the keyring of the system`, or the path of the file. */
  readonly place: string;
  set(name: string, value: string): Promise<void>;
  get(name: string): Promise<string | undefined>;
  /** True when there was one. */
  remove(name: string): Promise<boolean>;
}

/** A secret as a program may pass it on: the name, never the value. */
export const SECRET_REFERENCE = /^secret:([A-Za-z0-9._-]{1,128})$/;

export function referenceOf(name: string): string {
  return `secret:${name}`;
}
