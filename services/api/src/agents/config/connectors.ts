import { z } from 'zod';
import { SIGNING_ALGORITHMS } from './signing-key.ts';
import { envName, flag, HeaderName, path, prose, title, token, url } from './value-types.ts';

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
      .describe('Text before the key.'),
  })
  .default({ name: 'Authorization', prefix: 'Bearer ' })
  .describe('The header that carries the key to the tool. Default `Authorization`, after `Bearer `.');

/** Parameters of an authorization request that Parley sets itself. */
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

const ClientAuthentication = z
  .enum(['basic', 'post'])
  .optional()
  .describe(
    'How the client secret is sent: in the Authorization header or in the body. Absent: as the metadata of the server declares.',
  );

const OAuth2Connector = z
  .strictObject({
    type: z.literal('oauth2'),
    title: title('Name of the service for people.'),
    issuer: url(
      'The authorization server. Without configured endpoints, they are discovered from it. With them, it is only the expected value of `iss`.',
    ).optional(),
    authorizationEndpoint: url('Authorization endpoint, for a server without discovery.').optional(),
    tokenEndpoint: url('Token endpoint, for a server without discovery.').optional(),
    revocationEndpoint: url('Revocation endpoint, for a server without discovery.').optional(),
    clientId: token(500, 'Client id of Parley at the server.'),
    clientSecretEnv: envName('Variable that holds the client secret. Absent for a public client.').optional(),
    clientAuthentication: ClientAuthentication,
    scopes: z
      .array(token(200, 'A scope.'))
      .default([])
      .describe('Scopes to request. The connect page lists them.'),
    resource: url('Resource that the tokens are for (RFC 8707); for an MCP server, its URL.').optional(),
    authorizationParameters: z
      .record(Parameter, z.string().max(500))
      .default({})
      .describe('Additional parameters of the authorization request, such as `access_type: offline`.'),
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
  .describe('OAuth 2.1. The person consents at the provider. Parley stores and refreshes the tokens.');

const Scopes = z
  .array(token(200, 'A scope.'))
  .optional()
  .describe(
    'Scopes to request where the server’s challenge names none. Absent: all that the server’s metadata lists.',
  );

const McpOAuthConnector = z
  .strictObject({
    type: z.literal('mcp_oauth'),
    title: title('Name of the service for people.'),
    clientName: title('Name of Parley at authorization servers, which show it to people.').default('Parley'),
    issuer: url(
      'The only authorization server to accept. Absent: the first that the MCP server names. Required with `clientId`.',
    ).optional(),
    clientId: token(
      500,
      'Client id of Parley, registered at `issuer` by hand. Absent: Parley registers by itself.',
    ).optional(),
    clientSecretEnv: envName('Variable that holds the client secret. Absent for a public client.').optional(),
    clientAuthentication: z
      .enum(['basic', 'post'])
      .optional()
      .describe('How the client secret is sent: in the Authorization header (default) or in the body.'),
    scopes: Scopes,
    enterpriseManaged: flag(
      false,
      'True: the company sign-in of a person (`PARLEY_CONNECT_IDENTITY=oidc`) connects the account where its provider and the authorization server permit it, and nobody is asked. Needs `clientId`.',
    ),
  })
  .superRefine(({ issuer, clientId, clientSecretEnv, clientAuthentication, enterpriseManaged }, context) => {
    const refuse = (key: string, message: string) =>
      context.addIssue({ code: 'custom', path: [key], message });
    if (clientId !== undefined && issuer === undefined)
      refuse('issuer', 'is required with `clientId`: a client is registered at one authorization server');
    if (clientId === undefined && enterpriseManaged)
      refuse(
        'clientId',
        'is required with `enterpriseManaged`: the provider of the sign-in knows the client by it',
      );
    if (clientId === undefined && clientSecretEnv !== undefined)
      refuse('clientSecretEnv', 'is only for a `clientId` that was registered by hand');
    if (clientSecretEnv === undefined && clientAuthentication !== undefined)
      refuse('clientAuthentication', 'is only for a client with a secret (`clientSecretEnv`)');
  })
  .describe(
    'OAuth as the MCP server announces it: Parley discovers the authorization server, and registers there by itself. For one MCP server.',
  );

const ApiKeyConnector = z
  .strictObject({
    type: z.literal('api_key'),
    title: title('Name of the service for people.'),
    instructions: prose(2_000, 'Text for the person on the page that asks for the key: where to find one.'),
    label: title('Label of the field for the key.').default('API key'),
    header: Header,
    checkUrl: url(
      'URL to check a new key, called once. 2xx accepts the key, 401 and 403 refuse it. Absent: keys are not checked.',
    ).optional(),
  })
  .describe('The person enters an API key on a page of Parley.');

const NangoConnector = z
  .strictObject({
    type: z.literal('nango'),
    title: title('Name of the service for people.'),
    integrationId: token(200, 'Unique key of the integration in Nango.'),
    apiUrl: url('Base URL of the Nango API.').default('https://api.nango.dev'),
    secretKeyEnv: envName('Variable that holds the secret key of the Nango environment.'),
    webhookKeyEnv: envName('Variable that holds the key with which Nango signs its webhooks.'),
    apiKeyHeader: HeaderName.optional().describe(
      'For integrations with an API key: the header that carries the key, without a prefix. Absent: `Authorization`, after `Bearer `.',
    ),
  })
  .describe('Nango stores the tokens. Parley fetches them when a call needs them.');

const ProjectScopes = Scopes.describe(
  'Scopes to request, whatever the server asks for. Absent: those of the server’s challenge, else all that its metadata lists.',
);

const ClientCredentialsConnector = z
  .strictObject({
    type: z.literal('client_credentials'),
    issuer: url(
      'The authorization server at which the client is registered. The MCP server must name it, and no other gets the client’s proof.',
    ),
    clientId: token(500, 'Client id of the project.'),
    clientSecretEnv: envName('Variable that holds the client secret.').optional(),
    clientAuthentication: ClientAuthentication,
    privateKeyEnv: envName(
      'Variable that holds a private key in PEM (PKCS #8, without a password) or as JWK: the client then signs (`private_key_jwt`).',
    ).optional(),
    privateKeyFile: path('File that holds such a key, read at start.').optional(),
    keyId: token(200, 'Id of the key at the server. Absent: the `kid` of a JWK, else none.').optional(),
    algorithm: z
      .enum(SIGNING_ALGORITHMS)
      .optional()
      .describe('How the client signs. Absent: as the key demands, and RS256 with an RSA key.'),
    scopes: ProjectScopes,
  })
  .superRefine((connector, context) => {
    const refuse = (key: string, message: string) =>
      context.addIssue({ code: 'custom', path: [key], message });
    const proofs = (['clientSecretEnv', 'privateKeyEnv', 'privateKeyFile'] as const).filter(
      (key) => connector[key] !== undefined,
    );
    const [first, ...others] = proofs;
    if (first === undefined)
      refuse('clientSecretEnv', 'is required, or else `privateKeyEnv` or `privateKeyFile`');
    for (const key of others) refuse(key, `cannot be used with \`${first}\`: a client proves itself one way`);
    if (first !== 'clientSecretEnv' && connector.clientAuthentication !== undefined)
      refuse('clientAuthentication', 'is only for a client with a secret (`clientSecretEnv`)');
    if (first === 'clientSecretEnv')
      for (const key of ['keyId', 'algorithm'] as const)
        if (connector[key] !== undefined)
          refuse(key, 'is only for a client with a key (`privateKeyEnv` or `privateKeyFile`)');
  })
  .describe(
    'The project’s own client at the authorization server of an MCP server, with `credentialScope: project`. No person is asked.',
  );

const WorkloadIdentityConnector = z
  .strictObject({
    type: z.literal('workload_identity'),
    issuer: url(
      'The authorization server that trusts the platform. The MCP server must name it, and no other gets the token.',
    ),
    clientId: token(500, 'Client id of the project there.'),
    tokenFile: path(
      'File in which the platform keeps the token of the workload (a JWT whose audience is the `issuer`), such as a projected service account token of Kubernetes. Read for each request.',
    ),
    scopes: ProjectScopes,
  })
  .describe(
    'The identity that the platform gives to the pods, at the authorization server of an MCP server (JWT bearer), with `credentialScope: project`. No person is asked, and there is no secret.',
  );

const PROJECT_TYPES: readonly string[] = ['client_credentials', 'workload_identity'] satisfies ProjectType[];
type ProjectType = 'client_credentials' | 'workload_identity';

/** True for a connector that obtains the project's own credential. */
export function isOfProject<Entry extends { readonly type: string }>(
  connector: Entry,
): connector is Extract<Entry, { type: ProjectType }> {
  return PROJECT_TYPES.includes(connector.type);
}

/** A way to get a credential: a person's, or the project's own. */
export const Connector = z.discriminatedUnion('type', [
  OAuth2Connector,
  McpOAuthConnector,
  ApiKeyConnector,
  NangoConnector,
  ClientCredentialsConnector,
  WorkloadIdentityConnector,
]);
