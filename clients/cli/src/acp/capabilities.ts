import type { ClientCapabilities } from '@agentclientprotocol/sdk';

/** The modes of questions that an ACP client declared. */
export interface ShownModes {
  readonly form: boolean;
  readonly url: boolean;
}

/** A mode is supported if its key is present and not null, so `elicitation: {}` declares none. */
export function shownModes(capabilities: ClientCapabilities | undefined): ShownModes {
  const { form, url } = capabilities?.elicitation ?? {};
  return { form: form != null, url: url != null };
}

/** The header `X-Supports-Elicitation` for these modes. ACP forbids forms for sensitive answers. */
export function supportHeader({ form, url }: ShownModes): string {
  return [...(form ? ['form;sensitive=?0'] : []), ...(url ? ['url'] : [])].join(',') || 'none';
}
