import { mcpSecretsOf } from '@parley/shared/runtime/mcp-env';
import { describe, expect, it } from 'vitest';
import { createCallState } from '../../../services/api/src/surfaces/mcp/modern/state.ts';
import { stateKeysOf } from '../../../services/api/src/wiring/mcp.ts';

const OWNER = { tenant: 'acme', userId: 'ada' };
const CONTEXT = {} as never;

const stateOf = (...PARLEY_VAULT_KEYS: string[]) =>
  createCallState(stateKeysOf({ PARLEY_VAULT_KEYS } as never), OWNER, 'digest');

describe('the state of an MCP call', () => {
  it('is read by each of the vault keys while those change, and by no other key', async () => {
    const minted = await stateOf('old').mint({ call: 'sr_1 call', at: 1 }, [], CONTEXT);
    expect(await stateOf('old', 'new').verify(minted, CONTEXT)).toMatchObject({ call: 'sr_1 call' });
    expect(await stateOf('new', 'old').verify(minted, CONTEXT)).toMatchObject({ call: 'sr_1 call' });
    await expect(stateOf('new').verify(minted, CONTEXT)).rejects.toThrow();
  });

  it('is signed with the secret of its own before any other', () => {
    const env = { PARLEY_VAULT_KEYS: ['one', 'two'], PARLEY_JWT_SECRET: 'jwt', PARLEY_MCP_SECRET: 'mcp' };
    expect(mcpSecretsOf(env as never)).toEqual(['mcp']);
    expect(mcpSecretsOf({ ...env, PARLEY_MCP_SECRET: undefined } as never)).toEqual(['jwt']);
  });
});
