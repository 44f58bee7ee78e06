import { createPrivateKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** The algorithms with which Parley signs as a client. Those for RSA keys are in the order of preference. */
export const SIGNING_ALGORITHMS = [
  ...['ES256', 'ES384', 'ES512', 'Ed25519'],
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
] as const;

/** The private key of a client. It must never be logged. */
interface SigningKey {
  readonly key: KeyObject;
  readonly algorithm: string;
  /** Tells the server which key signed. */
  readonly keyId?: string;
}

/** The configuration of a key. */
interface SigningKeyEntry {
  readonly privateKeyEnv?: string | undefined;
  readonly privateKeyFile?: string | undefined;
  readonly keyId?: string | undefined;
  readonly algorithm?: string | undefined;
}

const RSA_BITS_MIN = 2_048;
const CURVES: Readonly<Record<string, string>> = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
};

/** Reads the key of an entry. `fault` says why the key cannot be used, and which key of the entry is wrong. */
export function readSigningKey(
  { privateKeyFile, keyId, algorithm }: SigningKeyEntry,
  fromEnv: string,
): SigningKey | { readonly at: 'privateKeyEnv' | 'privateKeyFile' | 'algorithm'; readonly fault: string } {
  const at = privateKeyFile === undefined ? 'privateKeyEnv' : 'privateKeyFile';
  const text = privateKeyFile === undefined ? fromEnv : textOf(privateKeyFile);
  if (text === undefined) return { at, fault: 'names a file that cannot be read' };
  const parsed = parseKey(text);
  if (parsed === undefined)
    return { at, fault: 'leads to no private key in PEM (without a password) or JWK' };
  const { key, kid } = parsed;
  const usable = algorithmsOf(key);
  const [first] = usable;
  if (first === undefined)
    return {
      at,
      fault:
        'leads to a key of another kind than P-256, P-384, P-521, Ed25519 or RSA with at least 2048 bits',
    };
  if (algorithm !== undefined && !usable.includes(algorithm))
    return { at: 'algorithm', fault: `does not fit the key, which takes ${usable.join(', ')}` };
  const id = keyId ?? kid;
  return { key, algorithm: algorithm ?? first, ...(id !== undefined && { keyId: id }) };
}

/** True for a file that can be read at present. */
export function isReadable(path: string): boolean {
  return textOf(path) !== undefined;
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function parseKey(text: string): { readonly key: KeyObject; readonly kid?: string } | undefined {
  try {
    const trimmed = text.trim();
    // Variables that hold only one line contain the line breaks of a PEM as `\n`.
    if (!trimmed.startsWith('{')) return { key: createPrivateKey(trimmed.replaceAll('\\n', '\n')) };
    const jwk = JSON.parse(trimmed) as Record<string, unknown>;
    const key = createPrivateKey({ key: jwk, format: 'jwk' });
    return { key, ...(typeof jwk.kid === 'string' && { kid: jwk.kid }) };
  } catch {
    return undefined;
  }
}

function algorithmsOf({
  asymmetricKeyType: type,
  asymmetricKeyDetails: details,
}: KeyObject): readonly string[] {
  if (type === 'ed25519') return ['Ed25519'];
  if (type === 'ec') return [CURVES[details?.namedCurve ?? ''] ?? []].flat();
  if (type !== 'rsa' || (details?.modulusLength ?? 0) < RSA_BITS_MIN) return [];
  return SIGNING_ALGORITHMS.filter((name) => /^[RP]S/.test(name));
}
