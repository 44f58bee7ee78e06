import { CLIENT_CAPABILITIES_META_KEY } from '@modelcontextprotocol/server';
import { isRecord, own } from '@parley/shared/domain/plain-record';
import type { Support } from '@parley/shared/domain/runs/run';

/** What a client declared about elicitation. */
export type Shows = Readonly<Record<'form' | 'url', boolean>>;

export const SHOWS_NOTHING: Shows = { form: false, url: false };

/** `elicitation: {}` means form. Url mode exists from 2025-11-25 on. */
export function showsOf(capabilities: unknown, options: { readonly hasUrlMode: boolean }): Shows {
  const elicitation = isRecord(capabilities) ? own(capabilities, 'elicitation') : undefined;
  if (!isRecord(elicitation)) return SHOWS_NOTHING;
  const url = isRecord(own(elicitation, 'url'));
  return { form: !url || isRecord(own(elicitation, 'form')), url: url && options.hasUrlMode };
}

/** What the client of one request of revision 2026-07-28 declared. */
export function showsOfEnvelope(envelope: Readonly<Record<string, unknown>> | undefined): Shows {
  return showsOf(envelope?.[CLIENT_CAPABILITIES_META_KEY], { hasUrlMode: true });
}

/** The same for a run. MCP forbids forms for sensitive answers. */
export function supportOf({ form, url }: Shows): Support {
  return { form, url, sensitiveForms: false };
}
