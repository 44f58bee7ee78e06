/** The house rules of docs/architecture.md as data: who may import whom, who may touch what. */

/** Folders as rooms, most specific first. A file belongs to the first whose path begins its own. */
export const ROOMS = [
  'shared/src/domain',
  'shared/src/ports',
  'shared/src/engine',
  'shared/src/redis',
  'shared/src/memory',
  'shared/src/runtime',
  'shared/src/vault',
  'services/api/src/http',
  'services/api/src/hub',
  'services/api/src/chat',
  'services/api/src/agents',
  'services/api/src/connect',
  'services/api/src',
  'services/worker/src',
  'clients/sdk/src',
  'clients/widget/src',
] as const;
export type Room = (typeof ROOMS)[number];

/** What each room may import besides itself. */
export const MAY_IMPORT: Readonly<Record<Room, readonly Room[]>> = {
  'shared/src/domain': [],
  'shared/src/ports': ['shared/src/domain'],
  'shared/src/engine': ['shared/src/domain', 'shared/src/ports'],
  'shared/src/redis': ['shared/src/domain', 'shared/src/ports'],
  'shared/src/memory': ['shared/src/domain', 'shared/src/ports'],
  'shared/src/runtime': ['shared/src/domain', 'shared/src/ports', 'shared/src/engine', 'shared/src/vault'],
  'shared/src/vault': ['shared/src/domain', 'shared/src/ports'],
  'services/api/src/http': [
    'shared/src/domain',
    'shared/src/ports',
    'shared/src/engine',
    'shared/src/runtime',
  ],
  'services/api/src/hub': ['services/api/src/http', 'shared/src/domain', 'shared/src/engine'],
  'services/api/src/chat': [
    'services/api/src/http',
    'services/api/src/agents',
    'shared/src/domain',
    'shared/src/engine',
  ],
  'services/api/src/agents': [
    'shared/src/domain',
    'shared/src/ports',
    'shared/src/engine',
    'shared/src/vault',
  ],
  'services/api/src/connect': [
    'services/api/src/http',
    'shared/src/domain',
    'shared/src/ports',
    'shared/src/engine',
    'shared/src/vault',
  ],
  'services/api/src': [
    'services/api/src/http',
    'services/api/src/hub',
    'services/api/src/chat',
    'services/api/src/agents',
    'services/api/src/connect',
    'shared/src/domain',
    'shared/src/ports',
    'shared/src/engine',
    'shared/src/vault',
    'shared/src/redis',
    'shared/src/memory',
    'shared/src/runtime',
  ],
  'services/worker/src': [
    'shared/src/domain',
    'shared/src/ports',
    'shared/src/engine',
    'shared/src/vault',
    'shared/src/redis',
    'shared/src/runtime',
  ],
  'clients/sdk/src': ['shared/src/domain'],
  'clients/widget/src': ['shared/src/domain'],
};

/** Rooms whose code runs in browsers. */
export const BROWSER_ROOMS: readonly Room[] = ['shared/src/domain', 'clients/sdk/src', 'clients/widget/src'];

/** Backends are picked in one place per service. */
export const BACKEND_PICKERS = [
  'services/api/src/wiring.ts',
  'services/worker/src/wiring.ts',
  'services/worker/src/rekey.ts',
];

/** Packages that only some rooms may import; `zod` is the only one the domain may have at all. */
export const PACKAGE_ROOMS: Readonly<Record<string, readonly Room[]>> = {
  ioredis: ['shared/src/redis'],
  bullmq: ['shared/src/redis'],
  express: ['services/api/src'],
  jose: ['services/api/src/http'],
  ai: ['services/api/src/agents', 'services/api/src/chat', 'clients/sdk/src'],
  yaml: ['services/api/src/agents'],
  '@modelcontextprotocol/client': ['services/api/src/agents'],
  'openid-client': ['services/api/src/connect'],
  lit: ['clients/widget/src'],
  '@lit/react': ['clients/widget/src'],
  react: ['clients/widget/src'],
};
export const DOMAIN_PACKAGES = ['zod'];

export const ENV_READERS = ['shared/src/runtime/env.ts'];

export const LINES_MAX = 300;
export const FUNCTION_LINES_MAX = 70;
