import { type Command, InvalidArgumentError } from 'commander';
import { BUCKETS, type Capacity, capacityFor, type Load } from '../capacity/model.ts';
import { type CliContext, isJson, print, printJson } from '../context.ts';

const DAY_SECONDS = 86_400;
const MOST = 1e12;

/** `parley capacity`: how much of Redis and how many pods a load requires, by the model of docs/capacity.md. */
export function registerCapacity(program: Command, context: CliContext): void {
  const command = program
    .command('capacity')
    .description('what a load needs of Redis and of pods, by the costs that the bench measures')
    .option('--asks <number>', 'questions a second that are asked and answered', amountOf, 0)
    .option('--open <number>', 'questions that are open at once', amountOf, 0)
    .option('--retention <seconds>', 'how long what has ended is kept', amountOf, DAY_SECONDS)
    .option('--streams <number>', 'event streams that are open at once', amountOf, 0)
    .option('--turns <number>', 'turns a second, each with one question', amountOf, 0)
    .option('--waiting-turns <number>', 'turns that wait for their person at once', amountOf, 0)
    .action((load: Load) => {
      const capacity = capacityFor(load);
      if (isJson(command)) printJson(context, { load, capacity });
      else for (const line of linesOf(capacity)) print(context, line);
    });
}

function amountOf(text: string): number {
  const amount = text.trim() === '' ? Number.NaN : Number(text);
  if (!(amount >= 0 && amount <= MOST))
    throw new InvalidArgumentError('It must be a number from 0 to 1e12, such as 100 or 1e6.');
  return amount;
}

function linesOf(capacity: Capacity): string[] {
  const { redisMasters, pods } = capacity;
  const kind = redisMasters === 1 ? 'one server' : `a Cluster of ${redisMasters} masters`;
  const rows = [
    ['Redis', kind],
    ['Redis memory', bytesText(capacity.redisBytes)],
    ['Redis processor', `${capacity.redisCores.toFixed(2)} cores`],
    ['fullest master', `${capacity.fullestMaster.toFixed(2)} times the mean`],
    ['pods', `${pods}, one of which may die`],
    ['processor of all pods', `${capacity.podCores.toFixed(2)} cores`],
    ['streams of a pod', capacity.socketsOfPod.toLocaleString('en')],
    ['memory of a pod', bytesText(capacity.bytesOfPod)],
    ['readers of a dead pod back', backText(capacity.readersBackSeconds)],
  ];
  const lines = rows.map(([name = '', value = '']) => `${name.padEnd(28)}${value}`);
  if (!capacity.fits)
    lines.push(
      `More than ${BUCKETS} masters carry, and no more can share the keys: divide the tenants among installations.`,
    );
  return lines;
}

function backText(seconds: number): string {
  return Number.isFinite(seconds)
    ? `${seconds.toFixed(0)} s`
    : 'never: refusals take all time; use more pods';
}

function bytesText(bytes: number): string {
  return bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${Math.ceil(bytes / 1e6)} MB`;
}
