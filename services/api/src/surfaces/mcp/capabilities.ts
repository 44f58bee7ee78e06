import { CLIENT_CAPABILITIES_META_KEY } from '@modelcontextprotocol/server';
import { isRecord, own } from '@parley/core/domain/plain-record';
import type { ClientServices } from '@parley/shared/domain/runs/client-request';
import { APPS, PAGE_TYPE } from '@parley/shared/domain/runs/pages';
import type { Support } from '@parley/shared/domain/runs/run';

/**
 * A client's declared capabilities: the questions and server pages (MCP Apps) that it shows, and the services that it provides
 * to servers.
 */
export type Shows = Readonly<Record<'form' | 'url' | 'apps', boolean>> & {
  readonly services?: ClientServices | undefined;
};

export const SHOWS_NOTHING: Shows = { form: false, url: false, apps: false };

/** Reads capabilities. Url mode and tools in sampling exist since 2025-11-25. */
export function showsOf(capabilities: unknown, options: { readonly isRecent: boolean }): Shows {
  if (!isRecord(capabilities)) return SHOWS_NOTHING;
  const services = servicesOf(capabilities, options);
  return {
    ...questionsOf(capabilities, options),
    apps: showsApps(capabilities),
    ...(services !== undefined && { services }),
  };
}

function servicesOf(
  capabilities: Record<string, unknown>,
  { isRecent }: { readonly isRecent: boolean },
): ClientServices | undefined {
  const sampling = own(capabilities, 'sampling');
  const services = {
    ...(isRecord(sampling) && { sampling: { tools: isRecent && isRecord(own(sampling, 'tools')) } }),
    ...(isRecord(own(capabilities, 'roots')) && { roots: true }),
  };
  return Object.keys(services).length === 0 ? undefined : services;
}

/** `elicitation: {}` means form mode. */
function questionsOf(
  capabilities: Record<string, unknown>,
  { isRecent }: { readonly isRecent: boolean },
): Pick<Shows, 'form' | 'url'> {
  const elicitation = own(capabilities, 'elicitation');
  if (!isRecord(elicitation)) return SHOWS_NOTHING;
  const url = isRecord(own(elicitation, 'url'));
  return { form: !url || isRecord(own(elicitation, 'form')), url: url && isRecent };
}

/** True if the extension lists the page type. A client that lists no types shows no pages. */
function showsApps(capabilities: Record<string, unknown>): boolean {
  const extensions = own(capabilities, 'extensions');
  const apps = isRecord(extensions) ? own(extensions, APPS) : undefined;
  const types = isRecord(apps) ? own(apps, 'mimeTypes') : undefined;
  return Array.isArray(types) && types.includes(PAGE_TYPE);
}

/** The capabilities that the client declared in one request of revision 2026-07-28. */
export function showsOfEnvelope(envelope: Readonly<Record<string, unknown>> | undefined): Shows {
  return showsOf(envelope?.[CLIENT_CAPABILITIES_META_KEY], { isRecent: true });
}

/**
 * The same for a run. MCP forbids forms for sensitive answers. The result of a call names the pages for everything that is not
 * shown.
 */
export function supportOf({ form, url, apps, services }: Shows): Support {
  return {
    form,
    url,
    sensitiveForms: false,
    tellsPages: true,
    ...(apps && { apps }),
    ...(services !== undefined && { services }),
  };
}
