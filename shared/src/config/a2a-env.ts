import { createPrivateKey, type KeyObject } from 'node:crypto';
import { faultOfUrl } from '@parley/core/domain/url';
import type { Env } from './variables.ts';

/** The faults in the settings of the A2A surface. */
export function faultsOfA2a({
  PARLEY_A2A_URL: url,
  PARLEY_PUBLIC_URL: publicUrl,
  PARLEY_A2A_SIGNING_KEY: key,
  NODE_ENV,
}: Env): string[] {
  const faults: string[] = [];
  const fault =
    url === undefined ? undefined : faultOfUrl(url, { allowLoopbackHttp: NODE_ENV !== 'production' });
  if (fault !== undefined) faults.push(`PARLEY_A2A_URL: ${fault}`);
  else if (url !== undefined && !['', '/'].includes(new URL(url).pathname))
    faults.push('PARLEY_A2A_URL: must be an origin, without a path');
  if (key !== undefined && readSigningKey(key) === undefined)
    faults.push('PARLEY_A2A_SIGNING_KEY: must be a private key on P-256, as PEM (PKCS #8)');
  // Without a configured URL, the Host header of a request would choose the addresses that the key signs.
  if (key !== undefined && url === undefined && publicUrl === undefined)
    faults.push('PARLEY_A2A_SIGNING_KEY: needs PARLEY_A2A_URL or PARLEY_PUBLIC_URL');
  return faults;
}

/** The key that signs agent cards; undefined when none is configured. */
export function a2aSigningKeyOf({ PARLEY_A2A_SIGNING_KEY: key }: Env): KeyObject | undefined {
  return key === undefined ? undefined : readSigningKey(key);
}

function readSigningKey(text: string): KeyObject | undefined {
  try {
    // A PEM key in a one-line variable has its line breaks escaped.
    const key = createPrivateKey(text.replaceAll('\\n', '\n'));
    return key.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? key : undefined;
  } catch {
    return undefined;
  }
}
