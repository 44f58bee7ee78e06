import { createHash } from 'node:crypto';
import type { CredentialRef, Presentation } from '@parley/shared/domain/credential';
import { isParleyError } from '@parley/shared/domain/errors';
import { retryWhileUnavailable } from '@parley/shared/elicitations/retry-while-unavailable';
import type { McpServer, McpTools } from '../mcp/calls/mcp-tools.ts';
import type { McpCallResult, McpToolList } from '../mcp/calls/results.ts';
import type { McpServerConfig } from '../mcp/server-config.ts';
import type { Credentials } from './credentials.ts';
import type { Question } from './question.ts';
import type { ToolCall } from './tool.ts';

export interface PersonalServiceOptions {
  readonly mcp: Pick<McpTools, 'open'>;
  readonly config: McpServerConfig;
  /** Whose account, for which server, got by which connector. */
  readonly ref: CredentialRef;
  /** What kind of credential it is, for cards. */
  readonly credentialType: string;
  readonly credentials: Credentials;
  /** Title of the agent that asks. */
  readonly agent: string;
  /** How long the person has to connect. */
  readonly questionTimeoutSeconds: number;
}

/** Nothing was sent, or nothing that was done; a sentence for model and people. */
export interface Refusal {
  readonly type: 'not_connected';
  readonly message: string;
}

/** A person's account at a service: an MCP server that is only ever called with that person's credential. */
export interface PersonalService {
  readonly title: string;
  /** What it offers this person; nothing when they have not connected. Asks nobody. */
  list(signal: AbortSignal): Promise<McpToolList | undefined>;
  /** Has the person connect, unless they have. */
  connect(call: ServiceCall): Promise<'connected' | Refusal>;
  /**
   * Makes a call with the credential; asks the person to connect where there is none. A credential that the server
   * refuses is refreshed once, then given up and asked for once: no call of a turn goes round in circles.
   */
  call(call: ServiceCall, send: Send): Promise<McpCallResult | Refusal>;
}

/** A call of one of its tools; `toolName` as the model knows it. */
export type ServiceCall = ToolCall & { readonly toolName: string };
/** `input` is what the call may leave with. */
type Send = (server: McpServer, input: unknown) => Promise<McpCallResult>;

/** A way in: the server with the credential, and the version of that. */
interface Entry {
  readonly type: 'entered';
  readonly server: McpServer;
  readonly version: number;
  /** True when the person has just connected for it. */
  readonly isNew?: true;
}

/** Makes one person's way to a service, for one turn. */
export function createPersonalService(options: PersonalServiceOptions): PersonalService {
  const { config, ref, credentials } = options;
  const { title } = config;
  const key = createHash('sha256')
    .update(JSON.stringify([ref.tenant, ref.userId, ref.toolId, ref.connectorId]))
    .digest('base64url');

  async function present(signal: AbortSignal, rejected?: number): Promise<Presentation | Entry> {
    const shown = await retryWhileUnavailable(() => credentials.present(ref, rejected), signal);
    if (shown.type !== 'presented') return shown;
    const server = options.mcp.open(config, { key, headers: shown.headers });
    return { type: 'entered', server, version: shown.version };
  }

  /**
   * Goes in with what there is, or with what the person gives when asked. A turn asks for an account once, and once
   * more when that has become useless meanwhile.
   */
  async function enter(call: ServiceCall): Promise<Entry | Refusal> {
    const first = await present(call.signal);
    if (first.type === 'entered') return first;
    if (first.type === 'unavailable') return outage(title);
    const asked = await ask(options, call, first.type === 'absent' ? 0 : 1);
    if ('type' in asked) return asked;
    await retryWhileUnavailable(() => credentials.promote(ref, asked.elicitationId), call.signal);
    const second = await present(call.signal);
    if (second.type === 'entered') return { ...second, isNew: true };
    return second.type === 'unavailable'
      ? outage(title)
      : refused(
          `The account at ${title} was connected, and yet it cannot be used. Do not retry; tell the user.`,
        );
  }

  const giveUp = ({ version }: Entry, signal: AbortSignal) =>
    retryWhileUnavailable(() => credentials.refused(ref, version), signal);

  async function attempt(call: ServiceCall, entry: Entry, send: Send): Promise<McpCallResult> {
    return send(entry.server, await call.beforeDispatch());
  }

  /** With a refreshed credential, then with one that the person gives. */
  async function retry(call: ServiceCall, first: Entry, send: Send): Promise<McpCallResult | Refusal> {
    let refusedEntry = first;
    const refreshed = await present(call.signal, first.version);
    if (refreshed.type === 'unavailable') return outage(title);
    if (refreshed.type === 'entered' && refreshed.version !== first.version) {
      const second = await attempt(call, refreshed, send);
      if (!isUnauthenticated(second)) return second;
      refusedEntry = refreshed;
    }
    await giveUp(refusedEntry, call.signal);
    // The person may take long, and the pod need not wait with them.
    await call.notExecuted();
    // Whoever has just connected is not asked to do it again.
    const reconnected = first.isNew ? undefined : await enter(call);
    if (reconnected?.type !== 'entered') return reconnected ?? UNAUTHENTICATED;
    const last = await attempt(call, reconnected, send);
    if (isUnauthenticated(last)) await giveUp(reconnected, call.signal);
    return last;
  }

  return {
    title,
    async list(signal) {
      const first = await present(signal);
      if (first.type !== 'entered') return undefined;
      const list = await first.server.listTools({ signal });
      if (list.type !== 'unauthorized') return list;
      const second = await present(signal, first.version);
      if (second.type === 'entered' && second.version !== first.version) {
        const again = await second.server.listTools({ signal });
        if (again.type !== 'unauthorized') return again;
        await giveUp(second, signal);
      } else if (second.type !== 'unavailable') await giveUp(first, signal);
      return undefined;
    },
    async connect(call) {
      const entry = await enter(call);
      return entry.type === 'entered' ? 'connected' : entry;
    },
    async call(call, send) {
      const entry = await enter(call);
      if (entry.type !== 'entered') return entry;
      const result = await attempt(call, entry, send);
      return isUnauthenticated(result) ? retry(call, entry, send) : result;
    },
  };
}

const UNAUTHENTICATED: McpCallResult = { type: 'unauthorized', status: 401 };

/** HTTP 401: another credential may do. A 403 asks for scopes that this one was not given. */
function isUnauthenticated(result: McpCallResult): boolean {
  return result.type === 'unauthorized' && result.status === 401;
}

/** Asks the person to connect. All calls of a turn share the question. */
async function ask(
  { config: { title }, ref, agent, credentialType, questionTimeoutSeconds }: PersonalServiceOptions,
  call: ServiceCall,
  ordinal: number,
): Promise<{ readonly elicitationId: string } | Refusal> {
  if (!call.support.url) {
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
  const question: Question = {
    mode: 'url',
    message: `${agent} needs your account at ${title} to go on.`,
    title: `Connect ${title}`,
    context: { trigger: 'credential_required', toolId, toolName: title, credentialType, connectorId, agent },
    timeoutSeconds: questionTimeoutSeconds,
  };
  try {
    const { status, text, elicitationId } = await call.ask(ordinal, question, `connect.${toolId}`);
    return status === 'accepted'
      ? { elicitationId }
      : refused(`The account at ${title} was not connected. ${text}`);
  } catch (error) {
    if (!isParleyError(error)) throw error;
    return refused(`The user could not be asked to connect ${title}: ${error.message}`);
  }
}

function outage(title: string): Refusal {
  return refused(
    `The account at ${title} is connected, but its provider cannot be reached right now. Nothing was done; try again later.`,
  );
}

function refused(message: string): Refusal {
  return { type: 'not_connected', message };
}
