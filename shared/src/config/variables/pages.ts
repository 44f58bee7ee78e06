import { faultOfProse } from '@parley/core/domain/text';
import { z } from 'zod';
import { text } from './schemas.ts';

const TITLE_CHARACTERS_MAX = 80;

/** The variables of what hosted pages show: part of `Variables`. */
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
  PARLEY_APPROVAL_LINKS: z
    .enum(['true', 'false'])
    .default('true')
    .transform((value) => value === 'true')
    .describe(
      '`false`: approvals have no answer links, and links that were made before open nothing. The person then signs in, or decides in another place. Default true.',
    ),
};
