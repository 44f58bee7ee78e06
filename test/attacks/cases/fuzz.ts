import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { expectSomeProblem, type Request } from '../../harness/attacks/call.ts';
import {
  MISSING_ID,
  newPerson,
  type Person,
  question,
  SERVICE_KEYS,
  type World,
} from '../../harness/attacks/world.ts';
import { sized } from '../../harness/proof-size.ts';

interface Call {
  readonly method: string;
  readonly path: string;
}

const OPERATIONS = ['/healthz', '/readyz', '/openapi.json', '/docs'];

const anyJson = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.dictionary(fc.constantFrom('action', 'content', 'reason', 'userId', 'mode', 'x'), fc.jsonValue(), {
    maxKeys: 4,
  }),
);
const anySegment = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }).map(encodeURIComponent),
  fc.stringMatching(/^[A-Za-z0-9%._~:*{}-]{1,20}$/),
);
const NAMES = ['userId', 'status', 'cursor', 'limit', 'timeoutSeconds', 'conversationId', 'x', '__proto__'];
const anyQuery = fc.array(
  fc.tuple(
    fc.constantFrom(...NAMES),
    fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 8 }),
      fc.constantFrom('pending', '1', '0', 'el_', '-1'),
    ),
  ),
  { maxLength: 3 },
);
const HEADERS = [
  'last-event-id',
  'idempotency-key',
  'accept',
  'content-type',
  'x-request-id',
  'origin',
  'range',
];
const anyHeaders = fc.dictionary(fc.constantFrom(...HEADERS), fc.stringMatching(/^[!-~][ -~]{0,15}[!-~]$/), {
  maxKeys: 2,
});

/** A body for a call: nearly right, wrong, or no JSON at all. */
function anyBody(call: Call, person: Person) {
  const right: Record<string, unknown> =
    call.path === '/v1/elicitations' ? question(person.userId) : { action: 'accept' };
  const spoilt = fc.tuple(
    fc.constantFrom(...Object.keys(right), 'content', 'context', 'responseId'),
    fc.jsonValue(),
  );
  return fc.oneof(
    fc.constant(undefined),
    anyJson.map((value) => JSON.stringify(value)),
    spoilt.map(([name, value]) => JSON.stringify({ ...right, [name]: value })),
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc
      .tuple(fc.nat(), fc.constantFrom('"', '\\', '\u0000', '{', ',', '\ud83e'))
      .map(([at, text]) => insert(JSON.stringify(right), at, text)),
  );
}

function insert(text: string, at: number, more: string): string {
  const place = at % (text.length + 1);
  return `${text.slice(0, place)}${more}${text.slice(place)}`;
}

export function fuzzAttacks(world: () => World): void {
  describe('anything, sent to every call', () => {
    let person: Person;
    let id: string;
    let calls: readonly Call[];

    beforeAll(async () => {
      person = await newPerson();
      id = (await world().ask(person)).elicitationId;
      const { paths } = (await world().call({ path: '/openapi.json' })).json as {
        paths: Record<string, Record<string, unknown>>;
      };
      // From the description of the API, so that no call that is added later is left out.
      calls = Object.entries(paths).flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => ({ path, method: method.toUpperCase() })),
      );
    });

    const anyRequest = (call: Call): fc.Arbitrary<Request & { pod: 0 | 1 }> =>
      fc.record(
        {
          method: fc.constant(call.method),
          path: fc
            .tuple(fc.oneof(fc.constantFrom(id, MISSING_ID), anySegment), anyQuery)
            .map(([segment, query]) => {
              const asked = new URLSearchParams(query).toString();
              // A wait for a question that stays open would take its time.
              const quick =
                call.path.endsWith('/wait') && !/timeoutSeconds/.test(asked) ? 'timeoutSeconds=0&' : '';
              return `${call.path.replace(/\{\w+\}/g, () => segment)}?${quick}${asked}`;
            }),
          token: fc.constantFrom(person.token, SERVICE_KEYS.acme, SERVICE_KEYS.globex, 'nobody'),
          headers: anyHeaders,
          pod: fc.constantFrom(0, 1),
          ...(call.method !== 'GET' && { raw: anyBody(call, person) }),
        },
        { requiredKeys: ['method', 'path', 'pod'] },
      ) as fc.Arbitrary<Request & { pod: 0 | 1 }>;

    it('never gets a 5xx, and every refusal is a regular problem document', async () => {
      expect(calls.length).toBeGreaterThan(9);
      const any = fc.constantFrom(...calls).chain(anyRequest);
      // PARLEY_SEED repeats a run.
      const given = Number.parseInt(process.env.PARLEY_SEED ?? '', 10);
      const seed = Number.isNaN(given) ? Math.floor(Math.random() * 2 ** 31) : given;
      process.stdout.write(`every call: seed ${seed}\n`);
      await fc.assert(
        fc.asyncProperty(fc.array(any, { minLength: 8, maxLength: 8 }), async (requests) => {
          await Promise.all(
            requests.map(async ({ raw, ...rest }) => {
              const request = raw === undefined ? rest : { ...rest, raw };
              const reply = await world().call(request);
              expect(reply.status, JSON.stringify(request)).toBeLessThan(500);
              if (reply.status >= 400) expectSomeProblem(reply);
              else expect([200, 201]).toContain(reply.status);
            }),
          );
        }),
        { seed, numRuns: sized(200, 20) },
      );
      const after = await world().read(person, id);
      expect(['pending', 'accepted', 'declined', 'cancelled', 'withdrawn']).toContain(after.status);
    });

    it('the operations endpoints are not harmed either', async () => {
      for (const path of OPERATIONS) {
        for (const query of ['', '?x=%ff', '?__proto__=x', '#']) {
          expect((await world().call({ path: `${path}${query}` })).status).toBe(200);
        }
        for (const method of ['POST', 'PUT', 'DELETE']) {
          const reply = await world().call({ method, path, raw: '{"x":1}' });
          expect([404, 405]).toContain(expectSomeProblem(reply).status);
        }
      }
    });
  });
}
