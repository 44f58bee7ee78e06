import { afterAll, beforeAll } from 'vitest';
import { answerAttacks } from './answers.ts';
import { askAttacks } from './asks.ts';
import { bodyAttacks } from './bodies.ts';
import { bombAttacks } from './bombs.ts';
import { ownerAttacks } from './owners.ts';
import { pollutionAttacks } from './pollution.ts';
import { requestAttacks } from './requests.ts';
import { schemaAttacks } from './schemas.ts';
import { urlAttacks } from './urls.ts';
import { startWorld, type World } from './world.ts';

// One world for all attacks: starting pods is what takes the time.
let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world?.stop());

bodyAttacks(() => world);
requestAttacks(() => world);
schemaAttacks(() => world);
answerAttacks(() => world);
askAttacks(() => world);
ownerAttacks(() => world);
urlAttacks(() => world);
pollutionAttacks(() => world);
bombAttacks(() => world);
