import type { Env } from '@parley/shared/config/env';
import type { Brand } from '../../pages/kit/layout.ts';

/** What hosted pages of this deployment show at their top. */
export function brandOf({ PARLEY_TITLE: title, PARLEY_LOGO_URL: logoUrl }: Env): Brand {
  return { ...(title !== undefined && { title }), ...(logoUrl !== undefined && { logoUrl }) };
}
