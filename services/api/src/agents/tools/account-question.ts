/** Asks a person to connect an account or to grant scopes. When that is necessary is decided in `personal-service.ts`. */

import { isParleyError } from '@parley/core/domain/errors';
import { retryWhileUnavailable } from '@parley/shared/async/retry-while-unavailable';
import type { CredentialRef } from '@parley/shared/domain/credential';
import { isAsked } from '@parley/shared/domain/reach';
import { sha256 } from '@parley/shared/records/digest';
import type { AgentQuestion } from '../run/question.ts';
import type { NamedCall } from '../run/tool.ts';
import type { Credentials } from './credentials.ts';

/** The service that asks a person about an account. */
export interface Asker {
  /** Name of the service for people. */
  readonly title: string;
  /** The account's owner, its server and its connector. */
  readonly ref: CredentialRef;
  /** Kind of the credential, for the card of the question. */
  readonly credentialType: string;
  readonly credentials: Pick<Credentials, 'completeOpen'>;
  /** Title of the agent that asks. */
  readonly agent: string;
  /** How long the person has to connect. */
  readonly questionTimeoutSeconds: number;
}

/** The call was not sent, or was sent and not executed. The message is a sentence for the model and people. */
export interface ServiceRefusal {
  readonly type: 'not_connected';
  readonly message: string;
}

/** A question about a person's account. All calls of a turn share it. */
interface AccountQuestion {
  readonly ordinal: number;
  readonly name: string;
  readonly question: AgentQuestion;
  /** The action that is not done if the person does not consent. */
  readonly undone: string;
}

export function connectQuestion(options: Asker, ordinal: number): AccountQuestion {
  const { title } = options;
  const question = {
    ...questionOf(options),
    message: `${options.agent} needs your account at ${title} to continue.`,
    title: `Connect ${title}`,
  };
  const undone = `The account at ${title} was not connected.`;
  return { ordinal, name: `connect.${options.ref.toolId}`, question, undone };
}

/** A question for more scopes. `scope` lists all scopes that the new credential needs. */
export function scopeQuestion(options: Asker, scope: string): AccountQuestion {
  const { title } = options;
  const { context, ...rest } = questionOf(options);
  const question = {
    ...rest,
    context: { ...context, requiredScope: scope },
    message: `${options.agent} needs more access to your account at ${title} to continue.`,
    title: `Extend the access to ${title}`,
  };
  const digest = sha256(scope);
  const undone = `The access to the account at ${title} was not extended.`;
  return { ordinal: 0, name: `scope.${options.ref.toolId}.${digest}`, question, undone };
}

function questionOf({ title, ref, agent, credentialType, questionTimeoutSeconds }: Asker) {
  const { toolId, connectorId } = ref;
  const trigger = 'credential_required';
  return {
    mode: 'url',
    context: { trigger, toolId, toolName: title, credentialType, connectorId, agent },
    timeoutSeconds: questionTimeoutSeconds,
  } as const;
}

/** Asks the person about the account. */
export async function askAboutAccount(
  { title, ref, credentials }: Asker,
  call: NamedCall,
  { ordinal, name, question, undone }: AccountQuestion,
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
  try {
    const { status, text, elicitationId } = await call.ask(ordinal, question, {
      shared: {
        name,
        // Another question may have connected the account after it was found missing and before this question was open.
        onOpen: () => retryWhileUnavailable(() => credentials.completeOpen(ref), call.signal),
      },
    });
    return status === 'accepted' ? { elicitationId } : refused(`${undone} ${text}`);
  } catch (error) {
    if (!isParleyError(error)) throw error;
    return refused(`The user could not be asked to connect ${title}: ${error.message}`);
  }
}

export function refused(message: string): ServiceRefusal {
  return { type: 'not_connected', message };
}
