/**
 * Starts the servers that surround Parley in a deployment: accounts, tracker and model. Parley itself is started by
 * `service.ts`; the stand-ins are in `stand-ins/`.
 */

import { randomBytes } from 'node:crypto';
import {
  type AuthorizationServer,
  startAuthorizationServer,
} from '../stand-ins/authorization-server/authorization-server.ts';
import { createTokenVerifier } from '../stand-ins/authorization-server/verify.ts';
import { type IssueTracker, startIssueTracker } from '../stand-ins/issue-tracker/issue-tracker.ts';
import { demoScript } from '../stand-ins/scripted-model/demo.ts';
import { SCRIPTED_MODEL } from '../stand-ins/scripted-model/reply.ts';
import { type ScriptedModel, startScriptedModel } from '../stand-ins/scripted-model/scripted-model.ts';
import { freePort } from '../test/harness/free-port.ts';

export const PEOPLE = ['alice', 'bob'] as const;
/** The person who signs in to the console. */
export const OPERATOR = 'olga';
export const CONNECTOR = 'tracker-account';
const SCOPES = ['issues:read', 'issues:write'];

/** Parley's registration as a client at an authorization server. */
export interface Client {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** The endpoint of a model. If absent, a scripted model is started. */
export interface ModelEndpoint {
  readonly url: string;
  readonly model: string;
  readonly apiKey: string;
}

/** The servers around Parley in a deployment. Here they are stand-ins on this machine. */
export interface Neighbours {
  /** The address at which browsers reach Parley's hosted pages and its console. */
  readonly publicUrl: string;
  readonly accounts: AuthorizationServer;
  /** Parley's clients: for sign-ins on the connect pages, and for access to the tracker. */
  readonly signIn: Client;
  readonly trackerClient: Client;
  readonly tracker: IssueTracker;
  readonly model: ModelEndpoint;
  /** Present if the model is scripted. */
  readonly scripted?: ScriptedModel;
  close(): Promise<void>;
}

interface NeighbourOptions {
  /** The address at which browsers reach Parley's hosted pages. */
  readonly publicUrl: string;
  readonly model?: ModelEndpoint;
}

/** Starts the accounts, the tracker and, unless there is a real model, a scripted one. */
export async function startNeighbours({ publicUrl, model }: NeighbourOptions): Promise<Neighbours> {
  const signIn = clientOf('parley-sign-in');
  const trackerClient = clientOf('parley');
  const api = clientOf('tracker-api');
  // Each server must know the other's address when it starts.
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}`;
  const tracker = await startIssueTracker({
    verify: (token) => createTokenVerifier({ issuer, ...api, resource: tracker.url })(token),
    authorizationServer: issuer,
    scopes: SCOPES,
  });
  const accounts = await startAuthorizationServer({
    name: 'Acme',
    port,
    users: [...PEOPLE, OPERATOR],
    roles: { [OPERATOR]: ['operator', 'reader'] },
    scopes: SCOPES,
    resources: [tracker.url],
    clients: [
      {
        ...signIn,
        firstParty: true,
        redirectUris: [`${publicUrl}/auth/signed-in`, `${publicUrl}/console/signed-in`],
      },
      { ...trackerClient, redirectUris: [`${publicUrl}/auth/callback/${CONNECTOR}`] },
      { ...api, redirectUris: [] },
    ],
  });
  const scripted = model === undefined ? await startScripted() : undefined;
  return {
    publicUrl,
    accounts,
    signIn,
    trackerClient,
    tracker,
    model: model ?? { url: scripted?.url ?? '', model: SCRIPTED_MODEL, apiKey: 'none' },
    ...(scripted !== undefined && { scripted }),
    async close() {
      await Promise.all([accounts.close(), tracker.stop(), scripted?.stop()]);
    },
  };
}

/** Slow enough to watch the text appear. */
const PIECE_DELAY_MS = 30;

function startScripted(): Promise<ScriptedModel> {
  return startScriptedModel({ script: demoScript(), delayMs: PIECE_DELAY_MS });
}

function clientOf(clientId: string): Client {
  return { clientId, clientSecret: randomBytes(24).toString('base64url') };
}
