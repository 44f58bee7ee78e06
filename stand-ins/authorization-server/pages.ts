/** The sign-in and consent pages of the stand-in authorization server. The protocol is oidc-provider's. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Interaction, default as Provider } from 'oidc-provider';

export interface PagesOptions {
  /** The name on every page. */
  readonly name: string;
  readonly users: readonly string[];
}

type Handler = (req: IncomingMessage, res: ServerResponse) => Promise<void>;

const BODY_BYTES_MAX = 16 * 1024;

/** The sign-in and consent pages of a stand-in, in plain HTML without scripts. Handles only `/interaction/...`. */
export function createPages(provider: Provider, { name, users }: PagesOptions): Handler {
  const page = (res: ServerResponse, status: number, title: string, body: string) =>
    sendPage(res, status, `${title} - ${name}`, `<h1>${escapeHtml(title)}</h1>${body}`);

  function showLogin(res: ServerResponse, { uid }: Interaction, fault?: string): void {
    const hint = users.map((user) => `<option value="${escapeHtml(user)}">`).join('');
    const names = users.map((user) => `<strong>${escapeHtml(user)}</strong>`).join(' or ');
    const body = `<p>The people here are ${names}.</p>${fault === undefined ? '' : `<p role="alert">${escapeHtml(fault)}</p>`}
<form method="post" action="/interaction/${uid}/login" data-form="login">
<label>User <input name="user" list="users" required autofocus autocomplete="username"></label>
<datalist id="users">${hint}</datalist> <button>Sign in</button></form>`;
    page(res, fault === undefined ? 200 : 400, `Sign in to ${name}`, body);
  }

  function showConsent(res: ServerResponse, { uid, params, session }: Interaction): void {
    const scopes = String(params.scope ?? '').split(' ');
    const list = scopes.map((scope) => `<li>${escapeHtml(scope)}</li>`).join('');
    const body = `<p>Signed in as <strong>${escapeHtml(session?.accountId ?? '')}</strong>.
<strong>${escapeHtml(String(params.client_id))}</strong> asks for:</p><ul>${list}</ul>
<form method="post" action="/interaction/${uid}/accept" data-form="accept"><button>Allow</button></form>
<form method="post" action="/interaction/${uid}/refuse" data-form="refuse"><button>Refuse</button></form>`;
    page(res, 200, `Allow access to your ${name} account?`, body);
  }

  async function act(action: string, req: IncomingMessage, res: ServerResponse): Promise<void> {
    const interaction = await provider.interactionDetails(req, res);
    if (action === 'login') {
      const user = new URLSearchParams(await readBody(req)).get('user')?.trim() ?? '';
      if (!users.includes(user)) return showLogin(res, interaction, 'There is no such user.');
      return provider.interactionFinished(req, res, { login: { accountId: user } });
    }
    if (action === 'refuse') {
      const refusal = { error: 'access_denied', error_description: 'the person refused' };
      return provider.interactionFinished(req, res, refusal, { mergeWithLastSubmission: false });
    }
    const consent = { grantId: await grantAll(provider, interaction) };
    return provider.interactionFinished(req, res, { consent });
  }

  return async (req, res) => {
    const path = new URL(req.url ?? '/', 'http://stand-in').pathname;
    const action = /^\/interaction\/[\w-]+(?:\/(login|accept|refuse))?$/u.exec(path);
    try {
      if (action?.[1] !== undefined && req.method === 'POST') return await act(action[1], req, res);
      const interaction = await provider.interactionDetails(req, res);
      return interaction.prompt.name === 'login'
        ? showLogin(res, interaction)
        : showConsent(res, interaction);
    } catch {
      page(res, 400, 'This sign-in is over', '<p>Begin again where you came from.</p>');
    }
  };
}

async function grantAll(provider: Provider, { params, session, prompt }: Interaction): Promise<string> {
  const accountId = session?.accountId;
  const clientId = String(params.client_id);
  const grant = new provider.Grant({ clientId, ...(accountId !== undefined && { accountId }) });
  const details = prompt.details as {
    readonly missingOIDCScope?: string[];
    readonly missingOIDCClaims?: string[];
    readonly missingResourceScopes?: Record<string, string[]>;
  };
  if (details.missingOIDCScope) grant.addOIDCScope(details.missingOIDCScope.join(' '));
  if (details.missingOIDCClaims) grant.addOIDCClaims(details.missingOIDCClaims);
  for (const [resource, scopes] of Object.entries(details.missingResourceScopes ?? {}))
    grant.addResourceScope(resource, scopes.join(' '));
  return grant.save();
}

/** Sends a whole HTML page that says that it is a stand-in. `body` is markup. */
export function sendPage(res: ServerResponse, status: number, title: string, body: string): void {
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title>
<meta name="viewport" content="width=device-width"><style>:root{color-scheme:light dark}body{font:1rem/1.5 system-ui;max-width:32rem;margin:3rem auto;padding:0 1rem}
h1{font-size:1.5rem;line-height:1.25}form{display:inline-block;margin:.5rem .5rem 0 0}label{display:block;margin-bottom:.75rem}
input,button{box-sizing:border-box;min-height:2.75rem;padding:.375rem 1rem;border:1px solid #868f99;border-radius:.5rem;font:inherit}
input{display:block;width:18rem;max-width:100%;margin-top:.25rem}button{background:none;color:inherit;cursor:pointer}
form:first-of-type button{border-color:#1b5fb8;background:#1b5fb8;color:#fff}:focus-visible{outline:3px solid #5b93e0;outline-offset:2px}
small{display:block;margin-top:3rem;opacity:.75}</style></head>
<body><main>${body}</main><small>A stand-in for development and tests. It knows no passwords.</small></body></html>`;
  res
    .writeHead(status, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' })
    .end(html);
}

/** `text` escaped for HTML, including attribute values. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/gu, (sign) => `&#${sign.codePointAt(0)};`);
}

/** A request's body as text. Rejects above 16 kB. */
export async function readBody(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of req as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > BODY_BYTES_MAX) throw new Error('the body is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
