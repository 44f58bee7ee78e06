import type { Env } from '@parley/shared/runtime/env';
import type { Brand } from '../../surfaces/connect/pages/layout.ts';

/** What hosted pages of this deployment show at their top. */
export function brandOf({ PARLEY_TITLE: title, PARLEY_LOGO_URL: logoUrl }: Env): Brand {
  return { ...(title !== undefined && { title }), ...(logoUrl !== undefined && { logoUrl }) };
}
