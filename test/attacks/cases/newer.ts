import { elicitationKey } from '@parley/shared/redis/client/keys';
import { describe, expect, it } from 'vitest';
import { openStream } from '../../harness/attacks/stream.ts';
import { newPerson, SERVICE_KEYS, type World } from '../../harness/attacks/world.ts';
import { redisCommand } from '../../harness/redis/redis-command.ts';

const MARK = 'private-field-of-a-newer-pod';

export function newerAttacks(world: () => World): void {
  describe('rows of a newer pod', () => {
    it('have private fields that no reply and no event of this pod shows', async () => {
      const owner = await newPerson();
      const { elicitationId, streamRequestId } = await world().ask(owner);
      const key = elicitationKey(elicitationId);
      const stored = JSON.parse(String(await redisCommand(world().redis.url, 'HGET', key, 'definition')));
      const newer = { ...stored, newerSecret: MARK, newerObject: { nested: MARK } };
      await redisCommand(world().redis.url, 'HSET', key, 'definition', JSON.stringify(newer));
      await redisCommand(world().redis.url, 'HSET', key, 'newerField', MARK);

      const path = `/v1/elicitations/${elicitationId}`;
      const stream = await openStream(world().pods[0], `/v1/streams/${streamRequestId}/events`, owner.token);
      const inbox = await openStream(world().pods[1], '/v1/inbox/events', owner.token);
      await inbox.event(0);
      const service = SERVICE_KEYS.acme;
      const accept = { action: 'accept', content: { name: 'Ada' } };
      const replies = [
        await world().call({ path, token: owner.token }),
        await world().call({ path, token: service }),
        await world().call({ path: `/v1/elicitations?userId=${owner.userId}`, token: service }),
        await world().answer(owner, elicitationId, accept),
        await world().call({ path: `${path}/wait?timeoutSeconds=0`, token: service }),
        // The refusal contains the elicitation.
        await world().answer(owner, elicitationId, { action: 'decline' }),
      ];
      await stream.event(1);
      await inbox.event(1);
      stream.close();
      inbox.close();
      expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 409]);
      for (const { text } of replies) expect(text).toContain(elicitationId);
      for (const text of [...replies.map((reply) => reply.text), stream.text(), inbox.text()]) {
        expect(text).not.toContain(MARK);
      }
      expect(replies[0]?.json).toMatchObject({ message: 'Who are you?' });
    });
  });
}
