import { randomUUID } from 'node:crypto';
import type { Outcome, ParleyClient } from '@parley/sdk';
import type { PageServer } from './page-server.ts';

export interface Agent {
  readonly client: ParleyClient;
  readonly page: PageServer;
  readonly userId: string;
  /** Told of each question as it is asked. */
  readonly onAsked: (elicitationId: string) => void;
}

const FORM = {
  type: 'object',
  properties: {
    environment: { type: 'string', title: 'Environment', enum: ['staging', 'production'] },
    note: { type: 'string', title: 'Note for the log', maxLength: 200 },
    announce: { type: 'boolean', title: 'Announce it', default: true },
  },
  required: ['environment'],
} as const;

/** Asks where to release: a form. */
export async function askForm({ client, userId, onAsked }: Agent): Promise<Outcome<unknown>> {
  const { elicitation, outcome } = await client.start({
    userId,
    streamRequestId: 'release-1',
    mode: 'form',
    title: 'Release 4.2',
    message: 'Which environment should release 4.2 go to?',
    requestedSchema: FORM,
    timeoutSeconds: 600,
  });
  onAsked(elicitation.elicitationId);
  return outcome;
}

/** Asks to open a page and waits until the person is done there: a url with server completion. */
export async function askUrl({ client, page, userId, onAsked }: Agent): Promise<Outcome<unknown>> {
  let elicitationId = '';
  const url = page.addVisit(randomUUID(), async () => {
    await client.complete(elicitationId);
  });
  const { elicitation, outcome } = await client.start({
    userId,
    streamRequestId: 'release-1',
    mode: 'url',
    completion: 'server',
    title: 'Connect the deploy service',
    message: 'Open the page of the deploy service and agree that this agent may release for you.',
    url,
    context: { trigger: 'credential_required', toolName: 'deploy' },
    timeoutSeconds: 600,
  });
  elicitationId = elicitation.elicitationId;
  onAsked(elicitationId);
  return outcome;
}
