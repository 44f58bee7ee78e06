import { afterAll, beforeAll } from 'vitest';
import { answerAttacks } from './answers.ts';
import { askAttacks } from './asks.ts';
import { bodyAttacks } from './bodies.ts';
import { bombAttacks } from './bombs.ts';
import { fuzzAttacks } from './fuzz.ts';
import { injectionAttacks } from './injection.ts';
import { limitAttacks } from './limits.ts';
import { ownerAttacks } from './owners.ts';
import { pollutionAttacks } from './pollution.ts';
import { postChecks } from './post-checks.ts';
import { requestAttacks } from './requests.ts';
import { schemaAttacks } from './schemas.ts';
import { secretAttacks } from './secrets.ts';
import { slowAttacks, slowPostChecks } from './slow.ts';
import { tokenAttacks } from './tokens.ts';
import { urlAttacks } from './urls.ts';
import { webhookAttacks } from './webhooks.ts';
import { startWorld, type World } from './world.ts';

// One world for all attacks: starting pods is what takes the time.
let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world?.stop());

const attacks = [
  slowAttacks,
  ...[bodyAttacks, requestAttacks, schemaAttacks, answerAttacks, askAttacks, urlAttacks, webhookAttacks],
  ...[ownerAttacks, tokenAttacks, pollutionAttacks, injectionAttacks, bombAttacks, fuzzAttacks],
  ...[limitAttacks, slowPostChecks, postChecks],
  // Last, because it breaks a row on purpose.
  secretAttacks,
];
for (const attack of attacks) attack(() => world);
