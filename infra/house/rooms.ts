import { CORE_DOMAIN, ROOMS, type Room, roomsSeenBy, SURFACES } from './rules.ts';

/** The purpose of each room, in the order of docs/architecture.md. */
const PURPOSES: Readonly<Record<(typeof ROOMS)[number], string>> = {
  'clients/core/src/domain':
    '`core`: the domain as far as clients need it (the wire, statuses, errors, forms), and no more than a client imports',
  'shared/src/domain':
    'the rules of elicitations, approvals, forms, runs and webhooks; pure, runs in a browser',
  'shared/src/async':
    'sleeping: retry while Redis is unavailable, wakes, ticks, time limits, the clock of work',
  'shared/src/ports': 'what the use cases need of a back end, as interfaces with their guarantees',
  'shared/src/records':
    'what every family of records shares: create, read, settle, wait, withdraw, expire, known rows',
  'shared/src/elicitations': 'ask, answer, complete, approvals, streams and inboxes; `engine.ts` binds them',
  'shared/src/runs':
    'the life of a run, without what an agent does in it: begin, claim, write, detach, resume, recover',
  'shared/src/delivery': 'what happens after a commit: the dispatch of outbox tasks, webhooks, pushes',
  'shared/src/redis':
    'the ports on Redis; a folder for each thing that is stored, scripts beside their TypeScript',
  'shared/src/memory': 'the same ports in one process',
  'shared/src/config': 'every environment variable, parsed once',
  'shared/src/observe': 'metrics, observers, telemetry, log',
  'shared/src/net': 'guarded calls to addresses that others name, and what signs them',
  'shared/src/runtime': 'what binds a process: dispatch, lifecycle, watchdog, checks of Redis',
  'shared/src/vault': 'sealing, keys and refresh of credentials',
  'services/api/src/http': 'one router for all surfaces: caller proof, body reading, limits, errors, SSE',
  'services/api/src/accounts':
    'how a credential is got: connectors, OAuth, flows, sign-ins of a company, disconnect',
  'services/api/src/pages':
    'the hosted pages: one folder a page; `views`, `identity`, `serving` and `kit` for all',
  'services/api/src/agents': 'what an agent does in a run; knows nothing of HTTP',
  'services/api/src/turns': 'what every surface needs of agents: start, follow, answer, stop',
  'services/api/src': 'a pod, built from its parts (`wiring`); the only place that picks a back end',
  'services/worker/src': 'BullMQ processors: a total map from job name to one call',
  'services/server/src': 'what the published package of the services exports beside the programs',
  'clients/core/src': 'what all clients share: SSE reader, retry, errors, calls',
  'clients/sdk/src': 'the SDK',
  'clients/widget/src': 'the cards and the inbox, as web components',
  'clients/console/src': 'the page of operators, on the admin API',
  'clients/cli/src': 'the command `parley`',
};

/** The table of rooms in docs/architecture.md: the purpose of each, and the rooms that it may import. */
export function roomTable(): string {
  const rows = ROOMS.map((room) => rowOf(room, PURPOSES[room]));
  const surface = rowOf(`${SURFACES}/*`, 'a protocol or page each; a surface never imports another');
  const at = ROOMS.indexOf('services/api/src');
  return ['| room | what is in it | may import |', '|---|---|---|', ...rows.toSpliced(at, 0, surface)].join(
    '\n',
  );
}

function rowOf(room: Room, purpose: string): string {
  const seen = roomsSeenBy(room).map((other) =>
    other === CORE_DOMAIN ? 'core' : other.replace(/^shared\/src\/|^services\/api\/src\//, ''),
  );
  return `| ${room} | ${purpose} | ${seen.length === 0 ? 'nothing' : seen.join(', ')} |`;
}
