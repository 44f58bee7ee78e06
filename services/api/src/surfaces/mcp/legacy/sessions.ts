import { randomBytes } from 'node:crypto';
import type { Owner } from '@parley/core/domain/ids';
import { ClientServices } from '@parley/shared/domain/runs/client-request';
import { LOG_LEVELS, type LogLevel } from '@parley/shared/domain/runs/turn-events';
import type { OwnerRecords } from '@parley/shared/ports/owner-records';
import { z } from 'zod';

/** A session: the capabilities that its client declared at `initialize`. Everything else is named by Parley's own ids. */
export const Session = z.looseObject({
  /** Questions that the client shows. */
  form: z.boolean(),
  url: z.boolean(),
  /** Whether it shows servers' pages. Sessions of earlier builds lack this. */
  apps: z.boolean().optional(),
  /** The services that it provides to servers. */
  services: ClientServices.optional(),
});
export type Session = z.infer<typeof Session>;

/** The sessions of MCP clients. Every pod finds them under the owner of the token that began them. */
interface McpSessions {
  /** Begins a session. Returns its id. Throws `user_erased` and `unavailable`. */
  begin(owner: Owner, session: Session): Promise<string>;
  /** The session of this owner, whose storage is extended. Undefined for another owner's session and for one that has ended. */
  find(owner: Owner, id: string): Promise<Session | undefined>;
  end(owner: Owner, id: string): Promise<boolean>;
  /** The lowest severity of log messages that the client of a session gets. */
  logLevel(owner: Owner, id: string): Promise<LogLevel>;
  setLogLevel(owner: Owner, id: string, level: LogLevel): Promise<void>;
}

const Level = z.enum(LOG_LEVELS);
/** The level for a client that has set none. */
const DEFAULT_LEVEL: LogLevel = 'info';
const ID_BYTES = 24;
const ID = /^[A-Za-z0-9_-]{32}$/;

export function createSessions(records: OwnerRecords, sessionMs: number): McpSessions {
  const nameOf = (id: string) => `mcp-session/${id}`;
  const levelName = (id: string) => `mcp-log-level/${id}`;
  return {
    async begin(owner, session) {
      const id = randomBytes(ID_BYTES).toString('base64url');
      await records.putIfAbsent(owner, nameOf(id), JSON.stringify(session), sessionMs);
      return id;
    },
    async find(owner, id) {
      if (!ID.test(id)) return undefined;
      const stored = await records.read(owner, nameOf(id), sessionMs);
      return stored === undefined ? undefined : Session.parse(JSON.parse(stored));
    },
    async end(owner, id) {
      if (!ID.test(id)) return false;
      await records.remove(owner, levelName(id));
      return records.remove(owner, nameOf(id));
    },
    async logLevel(owner, id) {
      const stored = Level.safeParse(await records.read(owner, levelName(id), sessionMs));
      return stored.success ? stored.data : DEFAULT_LEVEL;
    },
    async setLogLevel(owner, id, level) {
      await records.remove(owner, levelName(id));
      await records.putIfAbsent(owner, levelName(id), level, sessionMs);
    },
  };
}
