import { expect, it } from 'vitest';
import { CONTEXT } from '../../harness/pages/sightings.ts';
import {
  discovering,
  metadataOf,
  RESOURCE_PATH,
  resourceOf,
  SERVER_PATH,
  startOddServer,
} from './mcp-oauth-setup.ts';

const REGISTERED = { status: 201, body: { client_id: 'parley', redirect_uris: ['http://127.0.0.1:9/cb'] } };
const ROOT_PATH = '/.well-known/oauth-protected-resource';
const OPENID_PATH = '/.well-known/openid-configuration';
const PAGE = { headers: { 'content-type': 'text/html' }, body: '<html>Welcome</html>' };

type Routes = Parameters<typeof startOddServer>[0];

// What servers publish in other spellings than the standards', and can be read without a doubt.
it.each<[string, Routes]>([
  [
    'an issuer with a slash that its server writes without',
    (at) => ({ [RESOURCE_PATH]: { body: { ...resourceOf(at), authorization_servers: [`${at}/`] } } }),
  ],
  [
    'an issuer without a slash that its server writes with one',
    (at) => ({ [SERVER_PATH]: { body: { ...metadataOf(at), issuer: `${at}/` } } }),
  ],
  [
    'a page at the first place of metadata',
    (at) => ({ [SERVER_PATH]: PAGE, [OPENID_PATH]: { body: openId(at) } }),
  ],
  [
    'an error at the first place of metadata',
    (at) => ({ [SERVER_PATH]: { status: 500 }, [OPENID_PATH]: { body: openId(at) } }),
  ],
  [
    'a gateway without a backend at the first place of metadata',
    (at) => ({ [SERVER_PATH]: { status: 502, ...PAGE }, [OPENID_PATH]: { body: openId(at) } }),
  ],
  [
    'null members in the metadata',
    (at) => ({
      [SERVER_PATH]: {
        body: { ...metadataOf(at), scopes_supported: null, jwks_uri: null, revocation_endpoint: null },
      },
    }),
  ],
  [
    'null and empty members in the registration',
    () => ({
      '/register': {
        status: 201,
        body: {
          ...REGISTERED.body,
          client_secret: null,
          client_uri: '',
          logo_uri: null,
          client_secret_expires_at: null,
        },
      },
    }),
  ],
  ['a registration with status 200', () => ({ '/register': { ...REGISTERED, status: 200 } })],
  [
    'null members in the metadata of the resource',
    (at) => ({
      [RESOURCE_PATH]: { body: { ...resourceOf(at), scopes_supported: null, resource_name: null } },
    }),
  ],
  [
    'a page at the first place of the resource',
    (at) => ({ [RESOURCE_PATH]: PAGE, [ROOT_PATH]: { body: resourceOf(at) } }),
  ],
  [
    'an error at the first place of the resource',
    (at) => ({ [RESOURCE_PATH]: { status: 500 }, [ROOT_PATH]: { body: resourceOf(at) } }),
  ],
  [
    'a challenge of two schemes',
    (at) => ({
      '/mcp': {
        status: 401,
        headers: { 'www-authenticate': `Basic realm="a", Bearer resource_metadata="${at}/elsewhere"` },
      },
      [RESOURCE_PATH]: { status: 404 },
      '/elsewhere': { body: resourceOf(at) },
    }),
  ],
  [
    'a challenge in small letters',
    (at) => ({
      '/mcp': { status: 401, headers: { 'www-authenticate': `bearer resource_metadata="${at}/elsewhere"` } },
      [RESOURCE_PATH]: { status: 404 },
      '/elsewhere': { body: resourceOf(at) },
    }),
  ],
])('%s leads to the sign-in', async (_what, special) => {
  const { serverUrl } = await startOddServer((at) => ({
    '/mcp': { status: 401 },
    [RESOURCE_PATH]: { body: resourceOf(at) },
    [SERVER_PATH]: { body: metadataOf(at) },
    '/register': REGISTERED,
    ...special(at),
  }));
  expect(await discovering({ serverUrl }).begin(CONTEXT)).toMatchObject({ type: 'redirect' });
});

it('metadata that no place has, while one of them has an error, may come later', async () => {
  const { serverUrl } = await startOddServer((at) => ({
    '/mcp': { status: 401 },
    [RESOURCE_PATH]: { body: resourceOf(at) },
    [SERVER_PATH]: { status: 503 },
  }));
  expect(await discovering({ serverUrl }).begin(CONTEXT)).toMatchObject({
    type: 'failed',
    code: 'unavailable',
  });
});

function openId(at: string): object {
  return {
    ...metadataOf(at),
    jwks_uri: `${at}/keys`,
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
  };
}
