import { expect, it } from 'vitest';
import { createUsedSessions } from '../../../clients/cli/src/acp/used-sessions.ts';

it('a session of an editor is kept while something uses it, and no longer', async () => {
  const sessions = createUsedSessions();
  const ends: (() => void)[] = [];
  const untilEnded = () => new Promise<void>((resolve) => ends.push(resolve));
  const uses = ['a', 'a', 'b'].map((id) => sessions.use(id, untilEnded));
  const kept = sessions.find('a');
  expect(sessions.all()).toEqual([kept, sessions.find('b')]);
  ends[0]?.();
  await uses[0];
  expect(sessions.find('a')).toBe(kept);
  for (const end of ends) end();
  await Promise.all(uses);
  await expect(sessions.use('c', () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  expect(sessions.all()).toEqual([]);
  expect(sessions.find('a')).toBeUndefined();
});
