const CALL_MS = 5_000;

/** Node's error codes for host names without an address and for certificates that are not accepted, with explanations. */
const CAUSES: readonly (readonly [RegExp, string])[] = [
  [/^(?:ENOTFOUND|EAI_)/, 'its name has no address'],
  [/^ECONNREFUSED/, 'nothing listens there'],
  [/CERT|UNABLE_TO|HOSTNAME_MISMATCH/, 'its certificate is not accepted'],
  [/^(?:EPROTO|ERR_SSL)/, 'it does not speak TLS there'],
];

/** A reply, or the reason why there is none. */
export type Probed = { readonly reply: Response } | { readonly why: string };

/** Sends one request, with a time limit of some seconds and without following redirects. Never rejects. */
export async function probe(
  url: string,
  { token, ...init }: RequestInit & { readonly token?: string } = {},
): Promise<Probed> {
  const headers = new Headers(init.headers);
  if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
  try {
    const signal = init.signal ?? AbortSignal.timeout(CALL_MS);
    return { reply: await fetch(url, { ...init, headers, signal, redirect: 'manual' }) };
  } catch (error) {
    return { why: causeOf(error) };
  }
}

/** The body of a reply as a JSON object; empty if it is none. */
export async function jsonOf(probed: Probed): Promise<Readonly<Record<string, unknown>>> {
  if (!('reply' in probed)) return {};
  const body: unknown = await probed.reply.json().catch(() => undefined);
  return typeof body === 'object' && body !== null ? (body as Readonly<Record<string, unknown>>) : {};
}

function causeOf(error: unknown): string {
  const { code = '' } = ((error as { readonly cause?: unknown } | undefined)?.cause ?? {}) as {
    readonly code?: string;
  };
  return CAUSES.find(([pattern]) => pattern.test(code))?.[1] ?? 'it does not answer';
}

/** Whether the host of a URL is this machine. */
export function isLoopback({ hostname }: URL): boolean {
  return /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}
