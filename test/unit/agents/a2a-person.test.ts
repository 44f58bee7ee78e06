import { describe, expect, it } from 'vitest';
import { callRemoteAgent, type RemoteCallDeps } from '../../../services/api/src/agents/a2a/call-agent.ts';
import type { RemoteAgentTarget } from '../../../services/api/src/agents/a2a/remote-agent.ts';
import { personHeaders } from '../../../services/api/src/agents/remote/called-agent.ts';
import type { NamedCall } from '../../../services/api/src/agents/run/tool.ts';
import { actingCallerOf } from '../../../services/api/src/turns/principal.ts';

const caller = { kind: 'service', tenant: 'acme' } as Parameters<typeof actingCallerOf>[0]['caller'];
const receive = (name: string) => actingCallerOf({ caller, header: () => name }).owner.userId;

describe('the header that names a person', () => {
  it.each(['anna', 'é', '%C3%A9', '100%', 'a b', 'bob@example.com', '人'])(
    'is plain ASCII, and another Parley reads the same id from it: %s',
    (userId) => {
      const name = personHeaders({ userHeader: 'Parley-User' }, userId)['Parley-User'] ?? '';
      expect(name).toMatch(/^[\u0021-\u007e]+$/);
      expect(receive(name)).toBe(userId);
    },
  );

  it.each(['100%', '%zz', '%C3', '%00', ''])('is refused where it is not well encoded: "%s"', (name) => {
    expect(() => receive(name)).toThrow(expect.objectContaining({ code: 'forbidden' }));
  });
});

describe('a remote agent that is named people of one tenant', () => {
  it('is not called for those of another one', async () => {
    const deps = { person: { tenant: 'other', userId: 'bob' } } as unknown as RemoteCallDeps;
    const agent = { title: 'Desk', userHeader: 'Parley-User', userTenant: 'acme' } as RemoteAgentTarget;
    const task = { task: 'x' };
    const outcome = await callRemoteAgent(deps, agent, {} as NamedCall, task).catch(
      (error: unknown) => error,
    );
    expect(outcome).toEqual({
      type: 'failed',
      message: 'Desk cannot be called for users of this tenant. Nothing was done.',
    });
  });
});
