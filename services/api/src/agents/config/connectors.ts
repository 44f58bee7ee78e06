import { z } from 'zod';
import { envName, HeaderName, prose, title, token, url } from './words.ts';

const Header = z
  .strictObject({
    name: HeaderName.describe('Name of the header.'),
    prefix: z
      .string()
      .max(100)
      .regex(/^[\u0020-\u007e]*$/, 'must be printable ASCII')
      .refine(
        (text) => !/[A-Za-z0-9]$/.test(text),
        'would run into the key; YAML drops a blank at the end, so write it in quotes, such as "Bearer "',
      )
      .default('')
      .describe('What stands before the key.'),
  })
  .default({ name: 'Authorization', prefix: 'Bearer ' })
  .describe('The header that carries the key to the tool. Default `Authorization`, after `Bearer `.');

/** Parameters of an authorization request that only Parley may choose. */
const OWN_PARAMETERS = new Set([
  'client_id',
  'client_secret',
  'code_challenge',
  'code_challenge_method',
  'nonce',
  'redirect_uri',
  'request',
  'request_uri',
  'resource',
  'response_mode',
  'response_type',
  'scope',
  'state',
]);
const Parameter = z
  .string()
  .regex(/^[A-Za-z0-9_.-]{1,64}$/, 'must be the name of a parameter')
  .refine((name) => !OWN_PARAMETERS.has(name), 'is a parameter that Parley sets; it cannot be given here');

const OAuth2Connector = z
  .strictObject({
    type: z.literal('oauth2'),
    title: title('The service as people know it.'),
    issuer: url(
      'The authorization server. Without endpoints they are discovered from it; with them it is only the name that `iss` must carry.',
    ).optional(),
    authorizationEndpoint: url('Where people agree; for a server that cannot be discovered.').optional(),
    tokenEndpoint: url('Where codes and refresh tokens are redeemed.').optional(),
    revocationEndpoint: url('Where tokens are revoked.').optional(),
    clientId: token(500, 'The client that Parley is registered as.'),
    clientSecretEnv: envName('Variable that holds the client secret; absent for a public client.').optional(),
    clientAuthentication: z
      .enum(['basic', 'post'])
      .optional()
      .describe(
        'How the client secret is sent, in the Authorization header or in the body; absent: as the metadata of the server says.',
      ),
    scopes: z
      .array(token(200, 'A scope.'))
      .default([])
      .describe('What to ask for; the consent page lists it.'),
    resource: url('The resource the tokens are for (RFC 8707), for an MCP server its URL.').optional(),
    authorizationParameters: z
      .record(Parameter, z.string().max(500))
      .default({})
      .describe('Further parameters of the authorization request, such as `access_type: offline`.'),
  })
  .superRefine((connector, context) => {
    const { issuer, authorizationEndpoint, tokenEndpoint, revocationEndpoint } = connector;
    const refuse = (key: string, message: string) =>
      context.addIssue({ code: 'custom', path: [key], message });
    const given = [authorizationEndpoint, tokenEndpoint, revocationEndpoint].some((one) => one !== undefined);
    if (!given && issuer === undefined)
      refuse('issuer', 'is required, or else `authorizationEndpoint` and `tokenEndpoint`');
    if (given && authorizationEndpoint === undefined)
      refuse('authorizationEndpoint', 'is required beside the other endpoints');
    if (given && tokenEndpoint === undefined)
      refuse('tokenEndpoint', 'is required beside the other endpoints');
  })
  .describe('OAuth 2.1: the person agrees at the provider, Parley keeps and refreshes the tokens.');

const ApiKeyConnector = z
  .strictObject({
    type: z.literal('api_key'),
    title: title('The service as people know it.'),
    instructions: prose(2_000, 'Tells the person, on the page that asks for the key, where to find one.'),
    label: title('What the field for the key is called.').default('API key'),
    header: Header,
    checkUrl: url(
      'Called once with a new key: 2xx keeps it, 401 and 403 refuse it. Absent: unchecked.',
    ).optional(),
  })
  .describe('The person pastes a key into a page of Parley.');

const NangoConnector = z
  .strictObject({
    type: z.literal('nango'),
    title: title('The service as people know it.'),
    integrationId: token(200, 'The unique key of the integration in Nango.'),
    apiUrl: url('The API of Nango.').default('https://api.nango.dev'),
    secretKeyEnv: envName('Variable that holds the secret key of the Nango environment.'),
    webhookKeyEnv: envName('Variable that holds the key that Nango signs its webhooks with.'),
    apiKeyHeader: HeaderName.optional().describe(
      'For integrations with an API key: the header that carries it, as it is. Absent: `Authorization`, after `Bearer `.',
    ),
  })
  .describe('Nango keeps the tokens; Parley fetches them when a call needs them.');

/** A way to get a person's credential. */
export const Connector = z.discriminatedUnion('type', [OAuth2Connector, ApiKeyConnector, NangoConnector]);
