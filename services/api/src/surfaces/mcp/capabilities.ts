import { CLIENT_CAPABILITIES_META_KEY } from '@modelcontextprotocol/server';
import { isRecord, own } from '@parley/shared/domain/plain-record';
import type { Support } from '@parley/shared/domain/runs/run';

/** What a client declared about elicitation, and whether it shows pages of servers (MCP Apps). */
export type Shows = Readonly<Record<'form' | 'url' | 'apps', boolean>>;

export const SHOWS_NOTHING: Shows = { form: false, url: false, apps: false };

const APPS = 'io.modelcontextprotocol/ui';
const PAGE_TYPE = 'text/html;profile=mcp-app';

/** `elicitation: {}` means form. Url mode exists from 2025-11-25 on. */
export function showsOf(capabilities: unknown, options: { readonly hasUrlMode: boolean }): Shows {
  if (!isRecord(capabilities)) return SHOWS_NOTHING;
  const apps = showsApps(capabilities);
  const elicitation = own(capabilities, 'elicitation');
  if (!isRecord(elicitation)) return { ...SHOWS_NOTHING, apps };
  const url = isRecord(own(elicitation, 'url'));
  return { form: !url || isRecord(own(elicitation, 'form')), url: url && options.hasUrlMode, apps };
}

/** The extension names the types of pages that the client shows. Without them it shows none. */
function showsApps(capabilities: Record<string, unknown>): boolean {
  const extensions = own(capabilities, 'extensions');
  const apps = isRecord(extensions) ? own(extensions, APPS) : undefined;
  const types = isRecord(apps) ? own(apps, 'mimeTypes') : undefined;
  return Array.isArray(types) && types.includes(PAGE_TYPE);
}

/** What the client of one request of revision 2026-07-28 declared. */
export function showsOfEnvelope(envelope: Readonly<Record<string, unknown>> | undefined): Shows {
  return showsOf(envelope?.[CLIENT_CAPABILITIES_META_KEY], { hasUrlMode: true });
}

/** The same for a run. MCP forbids forms for sensitive answers. */
export function supportOf({ form, url, apps }: Shows): Support {
  return { form, url, sensitiveForms: false, ...(apps && { apps }) };
}
