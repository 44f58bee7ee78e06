import { mintElicitationId } from '@parley/core/domain/ids';
import { beforeAll, describe, expect, it } from 'vitest';
import { expectProblem, type Request } from '../../harness/attacks/call.ts';
import { openStream } from '../../harness/attacks/stream.ts';
import {
  MISSING_ID,
  newPerson,
  type Person,
  POST_ASK,
  question,
  SERVICE_KEYS,
  type World,
} from '../../harness/attacks/world.ts';

/** Ids that are none of ours, as they stand in a path. */
const MALFORMED_IDS = [
  ...[
    'x',
    'el_',
    MISSING_ID.slice(0, -1),
    `${MISSING_ID}A`,
    MISSING_ID.toUpperCase(),
    `el_64${'A'.repeat(22)}`,
  ],
  ...['%2e%2e', '..%2f..', '%00', '%0d%0aGET', '*', '%7Bx%7D', '%', '%ff', '%u0041', 'a'.repeat(8_000)],
  ...[`${MISSING_ID}%00`, `%65l_07${'A'.repeat(22)}x`, `${MISSING_ID};x`, '__proto__'],
];

/** What differs from one reply to the next, whatever was asked for. */
const CHANGING_HEADERS = ['date', 'x-request-id', 'connection', 'keep-alive'];

/** Every call about one elicitation, with the credentials that it needs. */
function callsOn(id: string, token: { user: string; service: string }): readonly Request[] {
  const path = `/v1/elicitations/${id}`;
  const answer = { action: 'accept', content: { name: 'Eve' } };
  return [
    { path, token: token.user },
    { path, token: token.service },
    { path: `${path}/wait?timeoutSeconds=5`, token: token.service },
    { method: 'POST', path: `${path}/response`, token: token.user, body: answer },
    { method: 'POST', path: `${path}/response/`, token: token.user, body: answer },
    { method: 'POST', path: `${path}/complete`, token: token.service },
    { method: 'DELETE', path, token: token.service },
  ];
}

export function ownerAttacks(world: () => World): void {
  describe('owners', () => {
    let owner: Person;
    let stranger: Person;
    /** The same user id in another tenant. */
    let namesake: Person;
    let id: string;

    beforeAll(async () => {
      owner = await newPerson('acme');
      stranger = await newPerson('acme');
      namesake = await newPerson('globex', owner.userId);
      id = (await world().ask(owner, { conversationId: 'talk-1' })).elicitationId;
    });

    /** A user who may not see the owner's data: their token, and the key of a service that may not either. */
    const outsiders = () => [
      { user: stranger.token, service: SERVICE_KEYS.globex },
      { user: namesake.token, service: SERVICE_KEYS.globex },
    ];

    it('S1 S2 S4 ids of others, missing and malformed ids are the same 404, byte for byte [MCP25-33 MCP26-22]', async () => {
      const texts = new Set<string>();
      const heads = new Set<string>();
      // A malformed id leads to nobody's question, no matter who sends it.
      const calls = outsiders().flatMap((token, index) =>
        [id, MISSING_ID, ...(index === 0 ? MALFORMED_IDS : [])].flatMap((target) =>
          callsOn(target, token).map((request) => ({ target, request })),
        ),
      );
      for (const { target, request } of calls) {
        const reply = await world().call(request);
        // A path that cannot be decoded, or that holds a slash, is no call at all.
        expectProblem(reply, 404, 'not_found');
        if (reply.text.includes('no such call')) {
          expect(MALFORMED_IDS).toContain(target);
          continue;
        }
        texts.add(reply.text);
        reply.headers.forEach((value, name) => {
          if (!CHANGING_HEADERS.includes(name)) heads.add(`${name}: ${value}`);
        });
      }
      expect([...texts]).toHaveLength(1);
      expect([...heads].map((line) => line.split(':')[0]).sort()).toEqual([
        ...['cache-control', 'content-length', 'content-type', 'x-content-type-options'],
      ]);
    });

    it('S1 S4 a chat refuses them with the same 404', async () => {
      const texts = new Set<string>();
      for (const { user } of [...outsiders(), { user: owner.token }]) {
        for (const elicitationId of [id, MISSING_ID, '', 'x', '../x', 'a'.repeat(100_000)]) {
          // The owner's own question in another conversation is no question of that conversation.
          const conversationId = user === owner.token ? 'talk-2' : 'talk-1';
          const reply = await world().call({
            method: 'POST',
            path: '/run/api/elicitation-responses',
            token: user,
            body: { conversationId, elicitationId, action: 'accept', content: { name: 'Eve' } },
          });
          expectProblem(reply, 404, 'not_found');
          texts.add(reply.text);
        }
      }
      expect([...texts]).toHaveLength(1);
    });

    it('S1 S2 none of these requests changed the question', async () => {
      const question = await world().read(owner, id);
      expect(question).toMatchObject({ status: 'pending', userId: owner.userId });
      expect(question).not.toHaveProperty('settledAt');
    });

    it('S1 a user who asks and a service that answers get 403 before anything is looked up', async () => {
      const asUser = { token: owner.token };
      const asService = { token: SERVICE_KEYS.acme };
      for (const target of [id, MISSING_ID, 'x']) {
        const path = `/v1/elicitations/${target}`;
        for (const request of [
          { ...POST_ASK, ...asUser, body: question(owner.userId) },
          { ...POST_ASK, ...asUser, raw: 'not json' },
          { path: `${path}/wait`, ...asUser },
          { path: `${path}/wait?timeoutSeconds=x`, ...asUser },
          { method: 'POST', path: `${path}/complete`, ...asUser },
          { method: 'DELETE', path, ...asUser },
          { method: 'POST', path: `${path}/response`, ...asService, body: { action: 'accept' } },
          { method: 'POST', path: `${path}/response`, ...asService, raw: 'not json' },
          { method: 'POST', path: '/run/api/elicitation-responses', ...asService, body: {} },
          { path: '/v1/inbox/events', ...asService },
        ]) {
          expectProblem(await world().call(request), 403, 'forbidden');
        }
      }
      expect((await world().read(owner, id)).status).toBe('pending');
    });

    it('S2 equal ids in two tenants are kept apart', async () => {
      const chosen = { streamRequestId: `turn-${owner.userId}`, conversationId: 'talk-9' };
      const path = `/v1/streams/${chosen.streamRequestId}/events`;
      const inboxes = await Promise.all(
        [owner, namesake].map(({ token }) => openStream(world().pods[1], '/v1/inbox/events', token)),
      );
      await Promise.all(inboxes.map((inbox) => inbox.event(0)));
      const asked = await Promise.all([owner, namesake].map((person) => world().ask(person, chosen)));
      const [mine, theirs] = asked.map(({ elicitationId }) => elicitationId);
      const streams = await Promise.all(
        [owner, namesake].map(({ token }) => openStream(world().pods[1], path, token)),
      );
      for (const [index, person] of [owner, namesake].entries()) {
        const elicitationId = [mine, theirs][index];
        expect((await streams[index]?.event(0))?.data).toMatchObject({ elicitationId });
        expect((await inboxes[index]?.event(1))?.data).toMatchObject({ elicitationId });
        const list = `/v1/elicitations?conversationId=talk-9`;
        const page = await world().call({ path: list, token: person.token });
        expect(page.json).toMatchObject({ elicitations: [{ elicitationId }] });
        const asService = `${list}&userId=${person.userId}`;
        expect(
          (await world().call({ path: asService, token: SERVICE_KEYS[person.tenant] })).text,
        ).not.toContain(String([theirs, mine][index]));
      }
      await world().answer(owner, String(mine), { action: 'decline' });
      expect((await streams[0]?.event(1))?.data).toMatchObject({ elicitationId: mine, status: 'declined' });
      expect((await inboxes[0]?.event(2))?.data).toMatchObject({ elicitationId: mine });
      expect(await world().read(namesake, String(theirs))).toMatchObject({ status: 'pending' });
      // One more of theirs comes after anything that could have strayed.
      await world().answer(namesake, String(theirs), { action: 'cancel' });
      await streams[1]?.event(1);
      await inboxes[1]?.event(2);
      for (const stream of [streams[1], inboxes[1]]) {
        stream?.close();
        expect(stream?.text()).not.toContain(mine);
      }
      for (const stream of [streams[0], inboxes[0]]) {
        stream?.close();
        expect(stream?.text()).not.toContain(theirs);
      }
    });

    it('S2 two users of a tenant share no stream, list or inbox', async () => {
      const { streamRequestId } = await world().read(owner, id);
      const path = `/v1/streams/${streamRequestId}/events`;
      expectProblem(await world().call({ path, token: stranger.token }), 404, 'not_found');
      expectProblem(await world().call({ path, token: namesake.token }), 404, 'not_found');
      for (const target of ['/v1/elicitations', path]) {
        const asOwner = `${target}?userId=${encodeURIComponent(owner.userId)}`;
        expectProblem(await world().call({ path: asOwner, token: stranger.token }), 404, 'not_found');
      }
      const mine = await world().call({ path: '/v1/elicitations', token: stranger.token });
      expect(mine.json).toEqual({ elicitations: [] });
      const inbox = await openStream(world().pods[0], '/v1/inbox/events', stranger.token);
      expect((await inbox.event(0)).data).toEqual({
        elicitations: [],
        approvals: [],
        part: 0,
        more: false,
      });
      inbox.close();
    });

    it('S2 a stream request belongs to the first user who used it, within a tenant', async () => {
      const streamRequestId = `turn-of-${owner.userId}`;
      await world().ask(owner, { streamRequestId });
      const reply = await world().call({
        ...POST_ASK,
        token: SERVICE_KEYS.acme,
        body: { ...question(stranger.userId), streamRequestId },
      });
      expectProblem(reply, 409, 'stream_owner_mismatch');
      expect(reply.text).not.toContain(owner.userId);
      const path = `/v1/streams/${streamRequestId}/events`;
      expectProblem(await world().call({ path, token: stranger.token }), 404, 'not_found');
      await world().ask(namesake, { streamRequestId });
    });

    it("S2 a cursor of another user's list leads to an empty page", async () => {
      const first = await world().ask(owner);
      const cursor = `${Date.parse(first.createdAt) + 1}.${first.elicitationId}`;
      const page = await world().call({ path: `/v1/elicitations?cursor=${cursor}`, token: stranger.token });
      expect(page.json).toEqual({ elicitations: [] });
    });

    it("S2 a user named by a service is always a user of the service's own tenant", async () => {
      const key = SERVICE_KEYS.globex;
      expectProblem(await world().call({ path: '/v1/elicitations', token: key }), 400, 'invalid_request');
      const page = await world().call({ path: `/v1/elicitations?userId=${owner.userId}`, token: key });
      expect(page.status).toBe(200);
      expect(page.text).not.toContain(id);
    });

    it('S3 a repeated answer gets the same reply, and a different one changes nothing', async () => {
      const { elicitationId } = await world().ask(owner);
      const first = { action: 'accept', content: { name: 'Ada' }, responseId: 'r-1' };
      const taken = await world().answer(owner, elicitationId, first);
      for (const responseId of ['r-1', 'r-2', undefined]) {
        const again = await world().answer(owner, elicitationId, { ...first, responseId });
        expect({ ...(again.json as object), serverTime: '' }).toEqual({
          ...(taken.json as object),
          serverTime: '',
        });
      }
      for (const responseId of ['r-1', 'r-2']) {
        const other = { ...first, content: { name: 'Eve' }, responseId };
        expectProblem(await world().answer(owner, elicitationId, other), 409, 'already_settled');
      }
      expectProblem(await world().answer(stranger, elicitationId, first), 404, 'not_found');
      expect((await world().read(owner, elicitationId)).content).toEqual({ name: 'Ada' });
    });

    it('S4 ids contain 128 random bits [SEC-03]', async () => {
      const minted = Array.from({ length: 10_000 }, () => mintElicitationId(owner));
      expect(new Set(minted.map((text) => text.slice(5))).size).toBe(10_000);
      // Every place takes on many values: no clock, no counter, no host in it.
      for (let place = 5; place < 26; place += 1) {
        expect(new Set(minted.map((text) => text[place])).size).toBeGreaterThan(32);
      }
      const asked = await Promise.all([0, 1].map(() => world().ask(owner)));
      for (const { elicitationId, streamRequestId } of asked) {
        expect(elicitationId).toMatch(/^el_\d\d[\w-]{22}$/);
        // The stream of a question that is alone on it has the same random bits.
        expect(streamRequestId).toBe(`sr_${elicitationId.slice(3)}`);
      }
    });
  });
}
