import { faultOfUrl } from '@parley/core/domain/url';
import type { Env } from './variables.ts';

const MCP_PATH = '/run/v1/mcp';
const SECRET_LENGTH_MIN = 32;

/** The faults in the settings of the MCP endpoint. */
export function faultsOfMcp({ PARLEY_MCP_URL: url, PARLEY_MCP_SECRET: secret, NODE_ENV }: Env): string[] {
  const faults: string[] = [];
  const fault =
    url === undefined ? undefined : faultOfUrl(url, { allowLoopbackHttp: NODE_ENV !== 'production' });
  if (fault !== undefined) faults.push(`PARLEY_MCP_URL: ${fault}`);
  else if (url !== undefined && new URL(url).pathname !== MCP_PATH)
    faults.push(`PARLEY_MCP_URL: must end in ${MCP_PATH}`);
  if (secret !== undefined && secret.length < SECRET_LENGTH_MIN)
    faults.push(`PARLEY_MCP_SECRET: must be at least ${SECRET_LENGTH_MIN} characters`);
  return faults;
}

/**
 * The secrets from which the keys of `requestState` are derived. The first one signs; all of them verify. Empty when the pods
 * share no secret.
 */
export function mcpSecretsOf(env: Env): readonly string[] {
  const secret = env.PARLEY_MCP_SECRET ?? env.PARLEY_JWT_SECRET;
  return secret === undefined ? env.PARLEY_VAULT_KEYS : [secret];
}
