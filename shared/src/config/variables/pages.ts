import { faultOfProse } from '@parley/core/domain/text';
import { z } from 'zod';
import { integer, text } from './schemas.ts';

const TITLE_CHARACTERS_MAX = 80;

/** The variables for the content of hosted pages. They are part of `Variables`. */
export const PAGE_VARIABLES = {
  PARLEY_TITLE: z
    .string()
    .optional()
    .refine((title = '') => faultOfProse(title, TITLE_CHARACTERS_MAX) === undefined, {
      message: `must be at most ${TITLE_CHARACTERS_MAX} characters, without controls`,
    })
    .describe('Name of the deployment at the top of hosted pages, such as that of the company.'),
  PARLEY_LOGO_URL: text(
    'https URL of a picture at the top of hosted pages. Browsers load it from there, so its host sees the addresses of the people who open them, and nothing else.',
  ),
  PARLEY_CONSOLE: z
    .enum(['oidc', 'dev'])
    .optional()
    .describe(
      'How operators sign in to the console at /console. `oidc`: at the provider of PARLEY_CONNECT_OIDC_*, where its redirect URI `<PARLEY_PUBLIC_URL>/console/signed-in` is registered, too. `dev`: the typed name is believed and has every role; only in development, with a PARLEY_PUBLIC_URL on localhost. Without it there is no console.',
    ),
  PARLEY_CONSOLE_ROLES_CLAIM: text(
    'Claim that says which roles an operator has: its name, or a path with dots such as `realm_access.roles`. Required with PARLEY_CONSOLE=oidc (docs/operations.md).',
  ),
  PARLEY_CONSOLE_IDLE_SECONDS: integer(
    [1_800, 60, 86_400],
    'How long the session of an operator lasts without a request of an open page, in seconds.',
  ),
  PARLEY_CONSOLE_SESSION_SECONDS: integer(
    [28_800, 60, 604_800],
    'How long the session of an operator lasts at most, in seconds. Roles are read at the sign-in, so this is also how long a role that was taken away may stay.',
  ),
  PARLEY_APPROVAL_LINKS: z
    .enum(['true', 'false'])
    .default('true')
    .transform((value) => value === 'true')
    .describe(
      '`false`: approvals have no answer links, and links that were made before open nothing. The person then signs in, or decides in another place. Default true.',
    ),
};
