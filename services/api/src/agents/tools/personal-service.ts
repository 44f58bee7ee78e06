/**
 * Calls a service with a person's own account: presents it, refreshes it, or asks for it. The text of the question is in
 * `account-question.ts`, storing credentials is in `accounts`.
 */

import { retryWhileUnavailable } from '@parley/shared/async/retry-while-unavailable';
import type { Presentation } from '@parley/shared/domain/credential';
import { missingScopes, scopesOfList } from '@parley/shared/domain/oauth/scopes';
import { sha256 } from '@parley/shared/records/digest';
import type { McpServerRef } from '../mcp/calls/mcp-tools.ts';
import type { McpUnauthorized } from '../mcp/results.ts';
import type { McpCredential } from '../mcp/server-config.ts';
import type { NamedCall } from '../run/tool.ts';
import {
  type Asker,
  askAboutAccount,
  connectQuestion,
  refused,
  type ServiceRefusal,
  scopeQuestion,
} from './account-question.ts';
import type { Credentials } from './credentials.ts';

interface PersonalServiceOptions<Service> extends Asker {
  /** Opens the service with this credential. */
  readonly open: (credential: McpCredential) => Service;
  readonly credentials: Credentials;
}

/** The result of a call. Only the type `unauthorized` has a meaning here. */
interface ServiceResult {
  readonly type: string;
}

/** The service refused the credential. `scope` lists the scopes that it demands. */
type Unauthorized = Pick<McpUnauthorized, 'type' | 'status' | 'scope' | 'wasAccepted'>;

/** A person's account at a service, such as an MCP server. The service is called only with that person's credential. */
export interface PersonalService<Service = McpServerRef> {
  readonly title: string;
  /**
   * Reads with the person's credential, which is refreshed once if the server refuses it. Undefined if the person has not
   * connected. Never asks the person.
   */
  read<Result extends ServiceResult>(
    read: (service: Service) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result | undefined>;
  /** Asks the person to connect, unless they already have. */
  connect(call: NamedCall): Promise<'connected' | ServiceRefusal>;
  /**
   * Makes a call with the credential, and asks the person to connect if there is none. A credential that the server refuses is
   * refreshed once; if it is refused again, the person is asked once to connect again. If the server then demands more scopes,
   * the person is asked once to grant them. So a call is sent at most four times. For a call that takes long, this starts anew
   * each time the server has accepted a credential for a while and then refuses it.
   */
  call<Result extends ServiceResult>(
    call: NamedCall,
    send: Send<Service, Result>,
  ): Promise<Result | Unauthorized | ServiceRefusal>;
}

/** Sends the call. It records the call as dispatched before each request. */
type Send<Service, Result> = (service: Service) => Promise<Result>;

/** The service opened with a credential, and the version of that credential. */
interface Access<Service> {
  readonly type: 'granted';
  readonly service: Service;
  readonly version: number;
  /** The scopes of the credential. Present if the person can be asked for more. */
  readonly scope?: string | undefined;
  /** True if the person has just connected for this call. */
  readonly isNew?: true;
}

/** Makes the service for one person and one turn. */
export function createPersonalService<Service>(
  options: PersonalServiceOptions<Service>,
): PersonalService<Service> {
  const { title, ref, credentials } = options;
  const key = sha256(JSON.stringify([ref.tenant, ref.userId, ref.toolId, ref.connectorId]));

  async function present(signal: AbortSignal, rejected?: number): Promise<Presentation | Access<Service>> {
    const shown = await retryWhileUnavailable(() => credentials.present(ref, rejected), signal);
    if (shown.type !== 'presented') return shown;
    const { headers, proofKey } = shown;
    const service = options.open({ key, headers, ...(proofKey !== undefined && { proofKey }) });
    return { type: 'granted', service, version: shown.version, scope: shown.scope };
  }

  /**
   * Gets access with the stored credential, or asks the person to connect. A turn asks for an account once, and a second time
   * if the credential has been refused since.
   */
  async function obtainAccess(call: NamedCall): Promise<Access<Service> | ServiceRefusal> {
    const first = await present(call.signal);
    if (first.type === 'granted') return first;
    if (first.type === 'unavailable') return outage(title);
    const asked = await askAboutAccount(
      options,
      call,
      connectQuestion(options, first.type === 'absent' ? 0 : 1),
    );
    if ('type' in asked) return asked;
    await retryWhileUnavailable(() => credentials.promote(ref, asked.elicitationId), call.signal);
    const second = await present(call.signal);
    if (second.type === 'granted') return { ...second, isNew: true };
    return second.type === 'unavailable'
      ? outage(title)
      : refused(
          `The account at ${title} was connected, and yet it cannot be used. Do not retry; tell the user.`,
        );
  }

  /** The last reply to a read that wanted more scopes. */
  let challenge: Unauthorized | undefined;

  const markRefused = ({ version }: Access<Service>, signal: AbortSignal) =>
    retryWhileUnavailable(() => credentials.refused(ref, version), signal);

  /** Repeats a refused call with a refreshed credential, then with one from a new connection. */
  async function retry<Result extends ServiceResult>(
    call: NamedCall,
    first: Access<Service>,
    send: Send<Service, Result>,
  ): Promise<MadeCall<Service, Result> | ServiceRefusal> {
    let refusedAccess = first;
    const refreshed = await present(call.signal, first.version);
    if (refreshed.type === 'unavailable') return outage(title);
    if (refreshed.type === 'granted' && refreshed.version !== first.version) {
      const second = await send(refreshed.service);
      if (!isUnauthenticated(second)) return { access: refreshed, result: second };
      refusedAccess = refreshed;
    }
    await markRefused(refusedAccess, call.signal);
    // The person may take a long time. The pod may release the run during that time, because the call is recorded as not
    // dispatched.
    await call.notExecuted();
    // A person who has just connected is not asked again.
    const reconnected = first.isNew ? undefined : await obtainAccess(call);
    if (reconnected?.type !== 'granted') return reconnected ?? { access: first, result: UNAUTHENTICATED };
    const last = await send(reconnected.service);
    if (isUnauthenticated(last)) await markRefused(reconnected, call.signal);
    return { access: reconnected, result: last };
  }

  /**
   * Gets the scopes that the server demands, in addition to those of the credential: without a question if possible, otherwise
   * from the person. The credential stays usable during the wait. Undefined if the credential already has all scopes that the
   * challenge names.
   */
  async function widen(
    call: NamedCall,
    { scope: granted, version }: Access<Service>,
    { scope: needed = '' }: Unauthorized,
  ): Promise<Access<Service> | ServiceRefusal | undefined> {
    const missing = granted === undefined ? [] : missingScopes(granted, needed);
    if (missing.length === 0) return undefined;
    const wanted = [...scopesOfList(granted ?? ''), ...missing].join(' ');
    await retryWhileUnavailable(() => credentials.widen(ref, wanted), call.signal);
    const obtained = await present(call.signal);
    if (obtained.type === 'granted' && missingScopes(obtained.scope ?? '', needed).length === 0)
      return obtained;
    await call.notExecuted();
    const asked = await askAboutAccount(options, call, scopeQuestion(options, wanted));
    if ('type' in asked) return asked;
    await retryWhileUnavailable(() => credentials.promote(ref, asked.elicitationId), call.signal);
    const widened = await present(call.signal);
    if (widened.type === 'unavailable') return outage(title);
    return widened.type === 'granted' && widened.version !== version ? widened : undefined;
  }

  return {
    title,
    async read(read, signal) {
      const first = await present(signal);
      if (first.type !== 'granted') return undefined;
      const result = await read(first.service);
      if (result.type !== 'unauthorized') return result;
      challenge = scopeChallenge(result);
      // Another token with the same scopes would be refused as well.
      if (challenge !== undefined && first.scope !== undefined) return undefined;
      const second = await present(signal, first.version);
      if (second.type === 'granted' && second.version !== first.version) {
        const again = await read(second.service);
        if (again.type !== 'unauthorized') return again;
        await markRefused(second, signal);
      } else if (second.type !== 'unavailable') await markRefused(first, signal);
      return undefined;
    },
    async connect(call) {
      const access = await obtainAccess(call);
      if (access.type !== 'granted') return access;
      const widened = challenge && (await widen(call, access, challenge));
      return widened?.type === 'not_connected' ? widened : 'connected';
    },
    async call(call, send) {
      for (;;) {
        const result = await callOnce(call, send);
        if (!('wasAccepted' in result) || result.wasAccepted !== true) return result;
      }
    },
  };

  /** Makes a call until it has a result or its credential is no longer valid. */
  async function callOnce<Result extends ServiceResult>(
    call: NamedCall,
    send: Send<Service, Result>,
  ): Promise<Result | Unauthorized | ServiceRefusal> {
    const access = await obtainAccess(call);
    if (access.type !== 'granted') return access;
    const first = { access, result: await send(access.service) };
    const sent = isUnauthenticated(first.result) ? await retry(call, access, send) : first;
    if ('type' in sent) return sent;
    const wanted = scopeChallenge(sent.result);
    const widened = wanted && (await widen(call, sent.access, wanted));
    if (widened?.type === 'not_connected') return widened;
    return widened === undefined ? sent.result : send(widened.service);
  }
}

const UNAUTHENTICATED: Unauthorized = { type: 'unauthorized', status: 401 };

/** The result of a call, and the access with which it was made. */
interface MadeCall<Service, Result> {
  readonly access: Access<Service>;
  readonly result: Result | Unauthorized;
}

/** HTTP 401: another credential may be accepted. */
function isUnauthenticated(result: ServiceResult): boolean {
  if (result.type !== 'unauthorized') return false;
  const { status, wasAccepted } = result as Unauthorized;
  return status === 401 && wasAccepted !== true;
}

/** HTTP 403 with `insufficient_scope`: the credential lacks a scope. */
function scopeChallenge(result: ServiceResult): Unauthorized | undefined {
  return result.type === 'unauthorized' && (result as Unauthorized).status === 403
    ? (result as Unauthorized)
    : undefined;
}

function outage(title: string): ServiceRefusal {
  return refused(
    `The provider of the account at ${title} cannot be reached right now. Nothing was done; try again later.`,
  );
}
