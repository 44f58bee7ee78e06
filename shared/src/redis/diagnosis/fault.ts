/**
 * Explains the faults of a Redis in sentences that name the server, the setting and the remedy. How a fault is found is in
 * `diagnose.ts`.
 */

import type { RedisFault, RedisFaultCode } from '../../ports/redis-diagnosis.ts';

/** The step at which a connection failed. */
export type DiagnosisStep = 'tcp' | 'tls' | 'commands' | 'commands over TLS';

/** The names of the settings that configure a connection, for use in remedies. */
export interface SettingNames {
  readonly password: string;
  readonly login: string;
  /** The phrase that says how to turn TLS on. */
  readonly on: string;
  readonly off: string;
}

/** The settings of a server whose URL is in `variable`. */
export function settingsOfUrl(variable: 'REDIS_URL' | 'PARLEY_VAULT_REDIS_URL'): SettingNames {
  const isMain = variable === 'REDIS_URL';
  return {
    password: isMain ? 'REDIS_URL or PARLEY_REDIS_PASSWORD' : variable,
    login: isMain ? 'REDIS_URL, or PARLEY_REDIS_USERNAME and PARLEY_REDIS_PASSWORD' : variable,
    on: `use rediss:// in ${variable}`,
    off: `use redis:// in ${variable}${isMain ? ' and leave PARLEY_REDIS_TLS unset' : ''}`,
  };
}

/** The settings of the servers or Sentinels in a list. */
export function settingsOfList(prefix: 'PARLEY_REDIS' | 'PARLEY_REDIS_SENTINELS'): SettingNames {
  return {
    password: `${prefix}_PASSWORD`,
    login: `${prefix}_USERNAME and ${prefix}_PASSWORD`,
    on: 'set PARLEY_REDIS_TLS',
    off: 'leave PARLEY_REDIS_TLS unset',
  };
}

/** The oldest Redis version that Parley supports. */
export const REDIS_MAJOR_MIN = 7;

const UNKNOWN_HOST = /^(?:ENOTFOUND|EAI_\w+)$/;
/** Node's error codes for certificates that cannot be verified, name another host, or are not valid now. */
const CERTIFICATE = /^(?:CERT_\w+|\w*CERT\w*|UNABLE_TO_\w+|ERR_TLS_CERT_\w+|HOSTNAME_MISMATCH)$/;

/** Explains why a connection to `address` (host:port) failed at a step. */
export function explainFault(
  address: string,
  step: DiagnosisStep,
  error: unknown,
  settings = settingsOfUrl('REDIS_URL'),
): RedisFault {
  const { code = '', message = '' } = (error ?? {}) as {
    readonly code?: string;
    readonly message?: string;
  };
  if (step === 'commands' || step === 'commands over TLS')
    return explainReply(address, message, settings, step === 'commands over TLS');
  if (UNKNOWN_HOST.test(code))
    return fault(
      'unknown_host',
      `No address is known for the host of ${address}. Check the name and the DNS.`,
    );
  if (step === 'tls') {
    if (CERTIFICATE.test(code))
      return fault(
        'certificate',
        `The certificate of ${address} is not accepted (${code}). Set NODE_EXTRA_CA_CERTS to its authority, and use a name that it contains.`,
      );
    // A server without TLS may take the handshake for a command and wait for its end.
    const isSilent = error === undefined;
    return fault(
      'no_tls',
      `${address} ${isSilent ? 'does not answer to TLS' : 'does not speak TLS'}. Use its port for TLS, or ${settings.off}.${isSilent ? ' It may also be frozen.' : ''}`,
    );
  }
  if (code === 'ECONNREFUSED')
    return fault('refused', `Nothing listens at ${address}. Start Redis, or correct the port.`);
  return fault(
    'no_answer',
    `${address} does not answer${code === '' ? '' : ` (${code})`}. A firewall or a network policy may be in the way.`,
  );
}

/** Messages of ioredis and of sockets about a closed connection. */
const CLOSED = /ECONNRESET|EPIPE|closed/i;

// The beginnings of Redis error replies, and of ioredis messages about a closed connection.
const REPLIES: readonly [RegExp, RedisFaultCode, (address: string, settings: SettingNames) => string][] = [
  [/^NOAUTH/, 'password_missing', (at, { password }) => `${at} asks for a password. Set it in ${password}.`],
  [
    /^WRONGPASS/,
    'password_wrong',
    (at, { login }) => `${at} refuses the user or the password. Correct ${login}.`,
  ],
  [
    /^NOPERM/,
    'not_permitted',
    (at) => `The user lacks rights at ${at}. Give it those of the user parley in infra/redis/users.acl.`,
  ],
  [
    /unknown command '?sentinel/i,
    'not_a_sentinel',
    (at) => `${at} is no Sentinel. Set PARLEY_REDIS_SENTINELS to Sentinels, or REDIS_URL to this server.`,
  ],
  [
    /cluster support disabled/,
    'not_a_cluster',
    (at) => `${at} belongs to no Cluster. Set REDIS_URL to it instead of PARLEY_REDIS_CLUSTER.`,
  ],
  [/^READONLY/, 'replica', replicaAt],
  [
    /^(?:LOADING|MASTERDOWN|CLUSTERDOWN|BUSY|MISCONF|NOREPLICAS)/,
    'not_ready',
    (at) => `${at} is not ready for commands. Its own log says why; it is tried again.`,
  ],
  [
    /timed out|ETIMEDOUT|handshake/i,
    'no_answer',
    (at) => `${at} accepts connections and does not answer. It may be frozen.`,
  ],
];

function replicaAt(address: string): string {
  return `${address} is a replica and refuses writes. Use the name or the port of the master.`;
}

/** Explains a server that is a replica. */
export function isReplica(address: string): RedisFault {
  return fault('replica', replicaAt(address));
}

function explainReply(address: string, message: string, settings: SettingNames, isTls = false): RedisFault {
  if (CLOSED.test(message))
    return isTls
      ? fault(
          'no_answer',
          `${address} closes connections without an answer. It may ask for a client certificate (set tls-auth-clients no), or have no place for more clients; its own log says which.`,
        )
      : fault(
          'tls_expected',
          `${address} closes connections without an answer. It may expect TLS (${settings.on}), be in protected mode, or have no place for more clients.`,
        );
  const known = REPLIES.find(([pattern]) => pattern.test(message));
  if (known !== undefined) return fault(known[1], known[2](address, settings));
  // Only the first word, the code of the reply, is shown; the rest may quote a command.
  return fault('other', `${address} replies ${/^\w+/.exec(message)?.[0] ?? 'with an error'} to Parley.`);
}

/**
 * Explains a server that is too old. Undefined for a supported or hidden version. Compatible products report the Redis version
 * whose commands they have.
 */
export function explainVersion(address: string, version: string | undefined): RedisFault | undefined {
  if (version === undefined || Number(version.split('.')[0]) >= REDIS_MAJOR_MIN) return undefined;
  return fault(
    'too_old',
    `${address} is Redis ${version}. Parley needs ${REDIS_MAJOR_MIN}.0 or later: upgrade it, or use another.`,
  );
}

/** Explains a Cluster of which too few nodes can be reached, or which does not serve all slots. */
export function clusterIsDown(address: string): RedisFault {
  return fault(
    'not_ready',
    `The Cluster of ${address} is down: nodes or slots are missing. redis-cli --cluster check names them.`,
  );
}

/** Explains a Sentinel that does not know the master. */
export function unknownMaster(address: string, name: string): RedisFault {
  return fault(
    'unknown_master',
    `The Sentinel at ${address} knows no master called ${name}. Correct PARLEY_REDIS_SENTINEL_NAME.`,
  );
}

function fault(code: RedisFaultCode, text: string): RedisFault {
  return { code, text };
}
