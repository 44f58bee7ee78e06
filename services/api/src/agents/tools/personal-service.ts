import { createHash } from 'node:crypto';
import type { CredentialRef, Presentation } from '@parley/shared/domain/credential';
import { isParleyError } from '@parley/shared/domain/errors';
import { isAsked } from '@parley/shared/domain/reach';
import { retryWhileUnavailable } from '@parley/shared/elicitations/retry-while-unavailable';
import type { McpServerRef } from '../mcp/calls/mcp-tools.ts';
import type { McpCredential } from '../mcp/server-config.ts';
import type { Credentials } from './credentials.ts';
import type { AgentQuestion } from './question.ts';
import type { ToolCall } from './tool.ts';

export interface PersonalServiceOptions<Service> {
  /** Name of the service for people. */
  readonly title: string;
  /** The service, to be called with this credential. */
  readonly open: (credential: McpCredential) => Service;
  /** The account's owner, its server and its connector. */
  readonly ref: CredentialRef;
  /** Kind of the credential, for the card of the question. */
  readonly credentialType: string;
  readonly credentials: Credentials;
  /** Title of the agent that asks. */
  readonly agent: string;
  /** How long the person has to connect. */
  readonly questionTimeoutSeconds: number;
}

/** The call was not sent, or was sent and not executed. The message is a sentence for model and people. */
export interface ServiceRefusal {
  readonly type: 'not_connected';
  readonly message: string;
}

/** What a call resulted in. Of the types, only `unauthorized` has a meaning here. */
interface ServiceResult {
  readonly type: string;
}

/** The service refused the credential. */
interface Unauthorized {
  readonly type: 'unauthorized';
  readonly status: 401 | 403;
}

/** A person's account at a service, such as an MCP server, that is called with that person's credential only. */
export interface PersonalService<Service = McpServerRef> {
  readonly title: string;
  /**
   * Reads with the person's credential, which is refreshed once where the server refuses it. Undefined when they have not
   * connected. Never asks the person.
   */
  read<Result extends ServiceResult>(
    read: (service: Service) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result | undefined>;
  /** Asks the person to connect, unless they have. */
  connect(call: ServiceCall): Promise<'connected' | ServiceRefusal>;
  /**
   * Makes a call with the credential, and asks the person to connect when there is none. A credential that the server
   * refuses is refreshed once; if it is refused again, the person is asked once to connect again. So a call is sent three
   * times at most.
   */
  call<Result extends ServiceResult>(
    call: ServiceCall,
    send: Send<Service, Result>,
  ): Promise<Result | Unauthorized | ServiceRefusal>;
}

/** A call of one of its tools. `toolName` is the name that the model uses. */
export type ServiceCall = ToolCall & { readonly toolName: string };
/** Sends the call. Records it as dispatched before each request. */
type Send<Service, Result> = (service: Service) => Promise<Result>;

/** The service with a credential to call it with, and the version of that credential. */
interface Access<Service> {
  readonly type: 'granted';
  readonly service: Service;
  readonly version: number;
  /** True when the person has just connected for this call. */
  readonly isNew?: true;
}

/** Makes the service for one person and one turn. */
export function createPersonalService<Service>(
  options: PersonalServiceOptions<Service>,
): PersonalService<Service> {
  const { title, ref, credentials } = options;
  const key = createHash('sha256')
    .update(JSON.stringify([ref.tenant, ref.userId, ref.toolId, ref.connectorId]))
    .digest('base64url');

  async function present(signal: AbortSignal, rejected?: number): Promise<Presentation | Access<Service>> {
    const shown = await retryWhileUnavailable(() => credentials.present(ref, rejected), signal);
    if (shown.type !== 'presented') return shown;
    const service = options.open({ key, headers: shown.headers });
    return { type: 'granted', service, version: shown.version };
  }

  /**
   * Gets access with the stored credential, or asks the person to connect. A turn asks for an account once, and a
   * second time when the credential has been refused since.
   */
  async function obtainAccess(call: ServiceCall): Promise<Access<Service> | ServiceRefusal> {
    const first = await present(call.signal);
    if (first.type === 'granted') return first;
    if (first.type === 'unavailable') return outage(title);
    const asked = await ask(options, call, first.type === 'absent' ? 0 : 1);
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

  const markRefused = ({ version }: Access<Service>, signal: AbortSignal) =>
    retryWhileUnavailable(() => credentials.refused(ref, version), signal);

  /** Repeats a refused call with a refreshed credential, then with one from a new connection. */
  async function retry<Result extends ServiceResult>(
    call: ServiceCall,
    first: Access<Service>,
    send: Send<Service, Result>,
  ): Promise<Result | Unauthorized | ServiceRefusal> {
    let refusedAccess = first;
    const refreshed = await present(call.signal, first.version);
    if (refreshed.type === 'unavailable') return outage(title);
    if (refreshed.type === 'granted' && refreshed.version !== first.version) {
      const second = await send(refreshed.service);
      if (!isUnauthenticated(second)) return second;
      refusedAccess = refreshed;
    }
    await markRefused(refusedAccess, call.signal);
    // The person may take long. A call that is not dispatched lets the pod release the run meanwhile.
    await call.notExecuted();
    // A person who has just connected is not asked again.
    const reconnected = first.isNew ? undefined : await obtainAccess(call);
    if (reconnected?.type !== 'granted') return reconnected ?? UNAUTHENTICATED;
    const last = await send(reconnected.service);
    if (isUnauthenticated(last)) await markRefused(reconnected, call.signal);
    return last;
  }

  return {
    title,
    async read(read, signal) {
      const first = await present(signal);
      if (first.type !== 'granted') return undefined;
      const result = await read(first.service);
      if (result.type !== 'unauthorized') return result;
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
      return access.type === 'granted' ? 'connected' : access;
    },
    async call(call, send) {
      const access = await obtainAccess(call);
      if (access.type !== 'granted') return access;
      const result = await send(access.service);
      return isUnauthenticated(result) ? retry(call, access, send) : result;
    },
  };
}

const UNAUTHENTICATED: Unauthorized = { type: 'unauthorized', status: 401 };

/** HTTP 401: another credential may be accepted. A 403 means that the account lacks a scope. */
function isUnauthenticated(result: ServiceResult): boolean {
  return result.type === 'unauthorized' && (result as Unauthorized).status === 401;
}

/** Asks the person to connect. All calls of a turn share this question. */
async function ask<Service>(
  { title, ref, agent, credentialType, credentials, questionTimeoutSeconds }: PersonalServiceOptions<Service>,
  call: ServiceCall,
  ordinal: number,
): Promise<{ readonly elicitationId: string } | ServiceRefusal> {
  if (!isAsked(call.reach({ mode: 'url' }))) {
    await call.appendEvent({
      type: 'tool-auth-required',
      toolCallId: call.toolCallId,
      toolId: ref.toolId,
      toolName: call.toolName,
      service: title,
      message: `${title} needs an account of your own, and this client cannot show how to connect it.`,
    });
    return refused(
      `${call.toolName} needs the user's own account at ${title}, and the user's client cannot show how to connect one. Do not retry; tell the user.`,
    );
  }
  const { toolId, connectorId } = ref;
  const question: AgentQuestion = {
    mode: 'url',
    message: `${agent} needs your account at ${title} to continue.`,
    title: `Connect ${title}`,
    context: { trigger: 'credential_required', toolId, toolName: title, credentialType, connectorId, agent },
    timeoutSeconds: questionTimeoutSeconds,
  };
  try {
    const { status, text, elicitationId } = await call.ask(ordinal, question, {
      shared: {
        name: `connect.${toolId}`,
        // The account may have been connected, by another question, after it was found absent and before this one was open.
        onOpen: () => retryWhileUnavailable(() => credentials.completeOpen(ref), call.signal),
      },
    });
    return status === 'accepted'
      ? { elicitationId }
      : refused(`The account at ${title} was not connected. ${text}`);
  } catch (error) {
    if (!isParleyError(error)) throw error;
    return refused(`The user could not be asked to connect ${title}: ${error.message}`);
  }
}

function outage(title: string): ServiceRefusal {
  return refused(
    `The account at ${title} is connected, but its provider cannot be reached right now. Nothing was done; try again later.`,
  );
}

function refused(message: string): ServiceRefusal {
  return { type: 'not_connected', message };
}
