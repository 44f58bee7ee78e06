import { randomBytes, randomUUID } from 'node:crypto';

export interface StoredSession {
  readonly tags: Readonly<Record<string, string>>;
  readonly allowed: readonly string[];
  /** The connection that this session renews, if any. */
  readonly connectionId?: string;
}

export interface StoredTokens {
  accessToken: string;
  refreshToken: string | undefined;
  /** ISO 8601. */
  expiresAt: string | undefined;
}

export interface StoredConnection {
  readonly id: number;
  readonly connectionId: string;
  readonly integration: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly created: string;
  tokens: StoredTokens;
}

/** The state of the stand-in for Nango. */
export interface NangoStore {
  /** Returns the session's bearer token. */
  addSession(session: StoredSession): string;
  session(token: string): StoredSession | undefined;
  /** Creates a connection, or replaces the tokens of the connection that the session renews. */
  connect(session: StoredSession, integration: string, tokens: StoredTokens): StoredConnection;
  connection(connectionId: string, integration: string): StoredConnection | undefined;
  connections(): readonly StoredConnection[];
  remove(connectionId: string): void;
}

/** An empty store. */
export function createNangoStore(): NangoStore {
  const sessions = new Map<string, StoredSession>();
  const connections = new Map<string, StoredConnection>();

  return {
    addSession(session) {
      const token = `nango_connect_session_${randomBytes(24).toString('hex')}`;
      sessions.set(token, session);
      return token;
    },
    session: (token) => sessions.get(token),
    connect(session, integration, tokens) {
      const known = session.connectionId === undefined ? undefined : connections.get(session.connectionId);
      const connection: StoredConnection = known ?? {
        id: connections.size + 1,
        connectionId: randomUUID(),
        integration,
        tags: session.tags,
        created: new Date().toISOString(),
        tokens,
      };
      connection.tokens = tokens;
      connections.set(connection.connectionId, connection);
      return connection;
    },
    connection(connectionId, integration) {
      const connection = connections.get(connectionId);
      return connection?.integration === integration ? connection : undefined;
    },
    connections: () => [...connections.values()],
    remove: (connectionId) => void connections.delete(connectionId),
  };
}
