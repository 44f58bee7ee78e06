/** The house rules of docs/architecture.md as data: who may import whom, who may touch what. */

/** Folders that form rooms, most specific first. A file belongs to the first room whose path is a prefix of its own. */
export const ROOMS = [
  'clients/core/src/domain',
  'shared/src/domain',
  'shared/src/async',
  'shared/src/ports',
  'shared/src/records',
  'shared/src/elicitations',
  'shared/src/runs',
  'shared/src/delivery',
  'shared/src/redis',
  'shared/src/memory',
  'shared/src/config',
  'shared/src/observe',
  'shared/src/net',
  'shared/src/runtime',
  'shared/src/vault',
  'services/api/src/http',
  'services/api/src/accounts',
  'services/api/src/pages',
  'services/api/src/agents',
  'services/api/src/turns',
  'services/api/src',
  'services/worker/src',
  'services/server/src',
  'clients/core/src',
  'clients/sdk/src',
  'clients/widget/src',
  'clients/console/src',
  'clients/cli/src',
] as const;

/** Each folder in this one is a room of its own. */
export const SURFACES = 'services/api/src/surfaces';
export type Surface = `${typeof SURFACES}/${string}`;
export type Room = (typeof ROOMS)[number] | Surface;

/**
 * The part of the domain that clients and services share. It is the clients' package, so it contains only what clients import.
 */
export const CORE_DOMAIN = 'clients/core/src/domain';

const CONTRACTS = [
  CORE_DOMAIN,
  'shared/src/domain',
  'shared/src/async',
  'shared/src/ports',
] as const satisfies readonly Room[];
const USE_CASES = [...CONTRACTS, 'shared/src/records', 'shared/src/elicitations', 'shared/src/runs'] as const;
/** The rooms with which a process reads its settings, logs, counts and calls other servers. */
const RUNTIME = ['shared/src/config', 'shared/src/observe', 'shared/src/net', 'shared/src/runtime'] as const;

/** The rooms that a surface may import. Other surfaces, and the agents behind the turns, are not among them. */
const SURFACE: readonly Room[] = [
  CORE_DOMAIN,
  'shared/src/domain',
  'shared/src/async',
  'shared/src/records',
  'shared/src/elicitations',
  'services/api/src/http',
  'services/api/src/turns',
];

/** The rooms that individual surfaces may import in addition. */
const SURFACE_EXTRAS: Readonly<Record<Surface, readonly Room[]>> = {
  // The admin API shows and changes what all use cases store.
  'services/api/src/surfaces/admin': ['shared/src/delivery', 'shared/src/ports', 'shared/src/runs'],
  'services/api/src/surfaces/accounts': ['shared/src/ports', 'shared/src/vault', 'services/api/src/accounts'],
  'services/api/src/surfaces/rest': ['shared/src/delivery', 'shared/src/ports'],
  'services/api/src/surfaces/a2a': ['shared/src/ports'],
  'services/api/src/surfaces/mcp': ['shared/src/ports'],
  'services/api/src/surfaces/slack': ['shared/src/ports', 'shared/src/vault'],
};

/** True if files in one room may import files in the other. Wiring may import every surface. */
export function mayImport(room: Room, other: Room): boolean {
  return isSurface(other) ? room === 'services/api/src' : roomsSeenBy(room).includes(other);
}

/** The rooms that files in a room may import, without the surfaces. */
export function roomsSeenBy(room: Room): readonly Room[] {
  return isSurface(room) ? [...SURFACE, ...(SURFACE_EXTRAS[room] ?? [])] : MAY_IMPORT[room];
}

function isSurface(room: Room): room is Surface {
  return room.startsWith(`${SURFACES}/`);
}

/** The rooms that each room, except the surfaces, may import in addition to itself. */
const MAY_IMPORT: Readonly<Record<(typeof ROOMS)[number], readonly Room[]>> = {
  'clients/core/src/domain': [],
  'shared/src/domain': [CORE_DOMAIN],
  'shared/src/async': [CORE_DOMAIN, 'shared/src/domain'],
  'shared/src/ports': [CORE_DOMAIN, 'shared/src/domain'],
  'shared/src/records': CONTRACTS,
  'shared/src/elicitations': [...CONTRACTS, 'shared/src/records'],
  'shared/src/runs': [...CONTRACTS, 'shared/src/records', 'shared/src/elicitations'],
  'shared/src/delivery': [...CONTRACTS, 'shared/src/records', 'shared/src/elicitations'],
  'shared/src/redis': CONTRACTS,
  'shared/src/memory': CONTRACTS,
  'shared/src/net': ['shared/src/ports'],
  'shared/src/observe': [...CONTRACTS, 'shared/src/delivery'],
  'shared/src/config': [
    ...CONTRACTS,
    'shared/src/records',
    'shared/src/observe',
    'shared/src/net',
    'shared/src/vault',
  ],
  'shared/src/runtime': [
    ...CONTRACTS,
    'shared/src/runs',
    'shared/src/delivery',
    'shared/src/vault',
    'shared/src/config',
    'shared/src/observe',
    'shared/src/net',
  ],
  'shared/src/vault': CONTRACTS,
  'services/api/src/http': [...CONTRACTS, 'shared/src/config', 'shared/src/observe'],
  'services/api/src/accounts': [
    ...CONTRACTS,
    'shared/src/records',
    'shared/src/elicitations',
    'shared/src/vault',
  ],
  'services/api/src/pages': [
    ...CONTRACTS,
    'shared/src/records',
    'shared/src/elicitations',
    'shared/src/vault',
    'services/api/src/http',
    'services/api/src/accounts',
  ],
  'services/api/src/agents': [...USE_CASES, 'shared/src/vault'],
  'services/api/src/turns': [...USE_CASES, 'services/api/src/agents'],
  'services/api/src': [
    ...USE_CASES,
    ...RUNTIME,
    'shared/src/delivery',
    'shared/src/vault',
    'shared/src/redis',
    'shared/src/memory',
    'services/api/src/http',
    'services/api/src/accounts',
    'services/api/src/pages',
    'services/api/src/agents',
    'services/api/src/turns',
  ],
  'services/worker/src': [
    ...USE_CASES,
    ...RUNTIME,
    'shared/src/delivery',
    'shared/src/vault',
    'shared/src/redis',
  ],
  'services/server/src': ['shared/src/config', 'shared/src/ports', 'shared/src/redis'],
  'clients/core/src': [CORE_DOMAIN],
  'clients/sdk/src': [CORE_DOMAIN, 'clients/core/src'],
  'clients/widget/src': [CORE_DOMAIN, 'clients/core/src'],
  'clients/console/src': [CORE_DOMAIN, 'clients/core/src', 'clients/widget/src'],
  'clients/cli/src': [CORE_DOMAIN, 'clients/core/src', 'clients/sdk/src'],
};

/** Rooms whose code runs in browsers. */
export const BROWSER_ROOMS: readonly Room[] = [
  CORE_DOMAIN,
  'shared/src/domain',
  'clients/core/src',
  'clients/sdk/src',
  'clients/widget/src',
  'clients/console/src',
];

/** The files that choose a backend: one for each service. */
export const BACKEND_PICKERS = [
  'services/api/src/wiring/wiring.ts',
  'services/worker/src/wiring.ts',
  'services/worker/src/rekey.ts',
  // This file checks whether a Redis can be used, but does not use it.
  'services/server/src/diagnosis.ts',
];

/** Packages that only some rooms may import. The domain may import only DOMAIN_PACKAGES, which run in browsers. */
export const PACKAGE_ROOMS: Readonly<Record<string, readonly Room[]>> = {
  ioredis: ['shared/src/redis'],
  bullmq: ['shared/src/redis'],
  express: ['services/api/src/http'],
  jose: ['services/api/src/http', 'services/api/src/agents'],
  ai: ['services/api/src/agents', 'services/api/src/surfaces/ai-sdk', 'clients/sdk/src'],
  yaml: ['services/api/src/agents'],
  '@modelcontextprotocol/client': ['services/api/src/agents', 'services/api/src/accounts'],
  '@modelcontextprotocol/server': ['services/api/src/surfaces/mcp'],
  'openid-client': ['services/api/src/accounts', 'services/api/src/pages'],
  '@slack/bolt': ['services/api/src/surfaces/slack'],
  '@slack/socket-mode': ['services/api/src/surfaces/slack'],
  '@slack/types': ['services/api/src/surfaces/slack'],
  '@slack/web-api': ['services/api/src/surfaces/slack'],
  lit: ['clients/widget/src', 'clients/console/src'],
  '@lit/react': ['clients/widget/src'],
  react: ['clients/widget/src'],
  // The command starts the services, and checks a Redis as they do.
  '@parley/server': ['clients/cli/src'],
  commander: ['clients/cli/src'],
  'fast-string-width': ['clients/cli/src'],
  '@napi-rs/keyring': ['clients/cli/src'],
};
export const DOMAIN_ROOMS: readonly Room[] = [CORE_DOMAIN, 'shared/src/domain'];
export const DOMAIN_PACKAGES = ['zod', 're2js'];

export const ENV_READERS = ['shared/src/config/env.ts', 'clients/cli/src/env.ts'];

export const LINES_MAX = 300;
export const FUNCTION_LINES_MAX = 70;
/** How often a walk may return to a room that it has left. */
export const WALK_RETURNS_MAX = 2;
/** The maximum number of files in a folder, without its subfolders. */
export const FOLDER_FILES_MAX = 20;

/** Type names that both the SDK and the widget export, because each of their users knows only one of the two. */
export const PUBLIC_TYPE_NAMES = ['Answer', 'ElicitationChange'];

/** The only folder of tests that every suite may import. */
export const TEST_HARNESS = 'harness';
