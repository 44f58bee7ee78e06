/**
 * Starts everything that the demo shows, and stops it in reverse order. Each part is in a file of its own; this file only
 * connects them.
 */

import { randomBytes } from 'node:crypto';
import { userToken } from '../test/harness/tokens.ts';
import { askBareQuestion } from './bare-question.ts';
import { loadClientFiles } from './client-files.ts';
import { writeConfiguration } from './configuration.ts';
import { type ModelEndpoint, type Neighbours, PEOPLE, startNeighbours } from './neighbours.ts';
import { type PageServer, startPageServer } from './page-server.ts';
import { type Service, startService } from './service.ts';

/** Everything that the demo runs. */
export interface World {
  readonly service: Service;
  readonly neighbours: Neighbours;
  /** Serves the chat page and the bare page. */
  readonly page: PageServer;
  readonly tenant: string;
  /** Gets a token that identifies a person to Parley. */
  tokenOf(userId: string): Promise<string>;
  close(): Promise<void>;
}

export interface WorldOptions {
  readonly model?: ModelEndpoint;
  readonly publicHost?: string;
  readonly pick?: 'round-robin' | 'random';
  /** How long a person may take to answer an agent. */
  readonly deadlineSeconds?: number | undefined;
  readonly print: (text: string) => void;
}

const DAY_SECONDS = 86_400;

/** Starts a company with a chat page, a sign-in, a tracker and Parley. */
export async function startWorld({
  model,
  publicHost,
  pick,
  deadlineSeconds,
  print,
}: WorldOptions): Promise<World> {
  const secret = randomBytes(32).toString('base64url');
  const serviceKey = randomBytes(32).toString('base64url');
  // Credentials are sealed with keys of this start, so those of an earlier start in the same Redis cannot be read. A random
  // tenant keeps them apart.
  const tenant = process.env.REDIS_URL ? `acme-${randomBytes(3).toString('hex')}` : 'acme';
  const tokenOf = (userId: string) => userToken({ secret, userId, tenant, expiresInSeconds: DAY_SECONDS });
  const parts: { close(): unknown }[] = [];
  const close = async () => {
    for (const part of parts.splice(0).reverse()) await part.close();
  };
  try {
    const clientFiles = await loadClientFiles(print);
    let neighbours: Neighbours | undefined;
    const service = await startService({
      print,
      ...(publicHost !== undefined && { publicHost }),
      ...(pick !== undefined && { pick }),
      async environment(publicUrl) {
        neighbours = await startNeighbours({ publicUrl, ...(model !== undefined && { model }) });
        parts.push(neighbours);
        const configuration = writeConfiguration({
          modelUrl: neighbours.model.url,
          model: neighbours.model.model,
          trackerUrl: neighbours.tracker.url,
          issuer: neighbours.accounts.issuer,
          deadlineSeconds,
        });
        parts.push({ close: configuration.remove });
        return {
          ...secretsOf(neighbours),
          ...settingsOf(publicUrl, tenant, neighbours),
          PARLEY_CONFIG: configuration.path,
          PARLEY_JWT_SECRET: secret,
          PARLEY_API_KEYS: `${tenant}:${serviceKey}`,
        };
      },
    });
    parts.push({ close: service.stop });
    if (neighbours === undefined) throw new Error('The service started without its environment.');
    const page = await startPageServer({
      apiUrl: service.url,
      people: PEOPLE,
      clientFiles,
      tokenOf,
      ask: (userId) => askBareQuestion(service.url, serviceKey, userId),
      model: aboutModel(neighbours),
    });
    parts.push(page);
    return { service, neighbours, page, tenant, tokenOf, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function settingsOf(
  publicUrl: string,
  tenant: string,
  { accounts, signIn }: Neighbours,
): Record<string, string> {
  return {
    PARLEY_PUBLIC_URL: publicUrl,
    PARLEY_CONNECT_IDENTITY: 'oidc',
    PARLEY_CONNECT_OIDC_ISSUER: accounts.issuer,
    PARLEY_CONNECT_OIDC_CLIENT_ID: signIn.clientId,
    PARLEY_CONNECT_USER_CLAIM: 'sub',
    PARLEY_CONNECT_TENANTS: tenant,
    PARLEY_CONSOLE: 'oidc',
    PARLEY_CONSOLE_ROLES_CLAIM: 'roles',
  };
}

function secretsOf({ model, signIn, trackerClient }: Neighbours): Record<string, string> {
  return {
    PARLEY_VAULT_KEYS: `demo:${randomBytes(32).toString('base64')}`,
    PARLEY_CONNECT_OIDC_CLIENT_SECRET: signIn.clientSecret,
    DEMO_TRACKER_CLIENT_SECRET: trackerClient.clientSecret,
    DEMO_MODEL_API_KEY: model.apiKey,
  };
}

function aboutModel({ model, scripted }: Neighbours): string {
  return scripted === undefined
    ? `The model is ${model.model} at ${new URL(model.url).host}.`
    : 'The model is scripted; everything else is real.';
}
