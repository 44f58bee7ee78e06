import { beforeAll, describe, expect, it } from 'vitest';
import { expectProblem, type Request } from '../../harness/attacks/call.ts';
import {
  newPerson,
  type Person,
  POST_ASK,
  question,
  SERVICE_KEYS,
  type World,
} from '../../harness/attacks/world.ts';

const KEYS = ['__proto__', '\\u005f_proto__', '__pr\\u006fto__'];
// Words like any other, which tools and forms of others may use.
const WORDS = ['constructor', 'prototype'];
const POISONS = ['{"prototype":{"admin":true}}', 'null'];

interface Target {
  readonly person: Person;
  readonly id: string;
}

export function pollutionAttacks(world: () => World): void {
  describe('S8 prototypes', () => {
    let person: Person;
    let id: string;

    beforeAll(async () => {
      person = await newPerson();
      id = (await world().ask(person)).elicitationId;
    });

    /** Every place of a body that holds an object, as text, because JSON.stringify would drop the key. */
    const places = (entry: string, { person, id }: Target): readonly Request[] => {
      const ask = { ...POST_ASK, token: SERVICE_KEYS.acme };
      const whole = JSON.stringify(question(person.userId)).slice(0, -1);
      const answer = {
        method: 'POST',
        path: `/v1/elicitations/${id}/response`,
        token: person.token,
      };
      return [
        { ...ask, raw: `${whole},${entry}}` },
        { ...ask, raw: `${whole},"context":{"trigger":"agent",${entry}}}` },
        { ...ask, raw: `${whole},"context":{"trigger":"agent","deep":[{${entry}}]}}` },
        { ...ask, raw: `${whole},"onUnavailable":{"content":{"name":"a",${entry}}}}` },
        { ...ask, raw: whole.replace('"type":"object"', `"type":"object",${entry}`).concat('}') },
        { ...ask, raw: whole.replace('"properties":{', `"properties":{${entry},`).concat('}') },
        { ...answer, raw: `{"action":"decline",${entry}}` },
        { ...answer, raw: `{"action":"accept","content":{"name":"a",${entry}}}` },
        {
          method: 'DELETE',
          path: `/v1/elicitations/${id}`,
          token: SERVICE_KEYS.acme,
          raw: `{"reason":"superseded",${entry}}`,
        },
      ];
    };

    it.each(KEYS)('the key %s is 400 at every position', async (key) => {
      for (const poison of POISONS) {
        const requests = places(`"${key}":${poison}`, { person, id });
        for (const reply of await Promise.all(requests.map((request) => world().call(request)))) {
          expectProblem(reply, 400, 'invalid_request');
        }
      }
    });

    it.each(WORDS)('the key %s is data at every position, and reaches no prototype', async (word) => {
      for (const poison of POISONS) {
        const someone = await newPerson();
        const asked = { person: someone, id: (await world().ask(someone)).elicitationId };
        const replies = [];
        for (const request of places(`"${word}":${poison}`, asked)) replies.push(await world().call(request));
        expect(replies.filter(({ status }) => status >= 500)).toEqual([]);
        expect(replies.map(({ text }) => text).join()).not.toContain(`may not use the key ${word}`);
      }
    });

    it('a query parameter with a prototype key is 400', async () => {
      for (const query of [
        '__proto__[admin]=true',
        '__proto__=x',
        'constructor=x',
        'constructor.prototype=x',
      ]) {
        const reply = await world().call({ path: `/v1/elicitations?${query}`, token: person.token });
        expectProblem(reply, 400, 'invalid_request');
      }
    });

    it('the prototypes of the pod are unchanged', async () => {
      expect((await world().read(person, id)).status).toBe('pending');
      const page = await world().call({ path: '/v1/elicitations', token: person.token });
      expect(page.text).not.toContain('admin');
      const next = await world().ask(await newPerson());
      expect(next).not.toHaveProperty('admin');
      expect(Object.keys(next)).not.toContain('admin');
    });
  });
}
