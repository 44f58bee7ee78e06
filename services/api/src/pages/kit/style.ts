/** The one style sheet of all hosted pages. Markup is in `pages/views`, the document around it in `layout.ts`. */

import { html } from './html.ts';

/** The style of every page: one card, the system's fonts, light and dark, from 320 px width, without images. */
export const STYLE = html`
:root {
  color-scheme: light dark;
  --ground: #f3f4f6; --card: #fff; --line: #d9dde3; --edge: #757e8a; --soft: #f3f5f8;
  --text: #1a1f26; --quiet: #545d69; --accent: #2a4fb8; --on-accent: #fff; --accent-over: #1f3e98;
  --good: #1b6e41; --warn: #7d4f00; --warn-soft: #fff6e3; --bad: #a8251c; --bad-soft: #fdf0ee;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0f1216; --card: #191e25; --line: #323a45; --edge: #7f8a97; --soft: #222932;
    --text: #e7eaee; --quiet: #a7b0bc; --accent: #9db8ff; --on-accent: #0e1730; --accent-over: #bccfff;
    --good: #7fd3a3; --warn: #f0c36d; --warn-soft: #2f2818; --bad: #ff9f95; --bad-soft: #33201f;
  }
}
*, *::before, *::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0; min-height: 100vh; min-height: 100dvh; display: flex; flex-direction: column; padding: 1.5rem 1rem;
  background: var(--ground); color: var(--text); overflow-wrap: anywhere;
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Helvetica Neue", sans-serif;
}
main {
  width: 100%; max-width: 35rem; margin: auto; padding: 2rem;
  background: var(--card); border: 1px solid var(--line); border-radius: 14px;
  box-shadow: 0 1px 2px rgb(0 0 0 / .05), 0 12px 32px rgb(0 0 0 / .06);
}
.brand {
  display: flex; align-items: center; gap: .75rem; width: 100%; max-width: 35rem; margin: 0 auto 1rem; padding: 0 .25rem;
  font-weight: 600;
}
.brand img { max-width: 10rem; max-height: 2.5rem; }
h1 { margin: 0 0 .5rem; font-size: 1.5rem; line-height: 1.25; letter-spacing: -.01em; text-wrap: balance; hyphens: auto; }
p { margin: 0 0 1rem; text-wrap: pretty; }
main > :last-child, [data-live] > :last-child { margin-bottom: 0; }
.lead { font-size: 1.0625rem; }
.quiet { color: var(--quiet); font-size: .9375rem; }
.name { font-weight: 600; }
.quiet .name, figcaption .name { font-weight: inherit; }
code { font: .875em/1.4 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }

.icon {
  display: grid; place-items: center; width: 2.75rem; height: 2.75rem; margin: 0 0 1rem;
  border-radius: 50%; background: var(--soft); color: var(--accent);
}
.icon svg {
  width: 1.375rem; height: 1.375rem; fill: none; stroke: currentColor; stroke-width: 2;
  stroke-linecap: round; stroke-linejoin: round;
}
.icon.good { color: var(--good); }
.icon.warn { color: var(--warn); background: var(--warn-soft); }
.icon.bad { color: var(--bad); background: var(--bad-soft); }
.turning svg { animation: turn 2.4s linear infinite; }
@keyframes turn { to { transform: rotate(1turn); } }

.facts { margin: 0 0 1.25rem; border-block: 1px solid var(--line); }
.facts > div { display: grid; grid-template-columns: 11rem 1fr; gap: .25rem 1rem; align-items: baseline; padding: .625rem 0; }
.facts > div + div { border-top: 1px solid var(--line); }
dt { color: var(--quiet); }
dd { margin: 0; }
.origin {
  display: inline-block; padding: .1875rem .625rem; border: 1px solid var(--edge); border-radius: 8px;
  background: var(--soft); color: var(--quiet); line-height: 1.4;
}
.origin strong { color: var(--text); }
.scopes { display: flex; flex-wrap: wrap; gap: .375rem; margin: 0; padding: 0; list-style: none; }
.scopes li { padding: .0625rem .5rem; border: 1px solid var(--line); border-radius: 6px; background: var(--soft); }
.scopes.below { margin-bottom: 1rem; }
#news:not(:empty) { position: sticky; bottom: 0; padding: .75rem 0; background: var(--card); border-top: 1px solid var(--line); }
#news:empty { margin: 0; }
.items:empty { display: none; }
.items { margin: 0; padding: 0; list-style: none; }
.items > li { padding: 1.25rem 0; border-top: 1px solid var(--line); }
h2, h3 { margin: 0 0 .5rem; font-size: 1.125rem; line-height: 1.35; }
h3 { font-size: 1rem; }
section { margin: 0 0 2rem; }
.items p { margin: 0 0 .75rem; }
.clip { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3; overflow: hidden; }
.items .facts { border: 0; margin-bottom: .75rem; }
.items .facts > div { border: 0; padding: .25rem 0; }
a:not(.button) { color: var(--accent); }
.words { margin: 0 0 1.25rem; }
.words figcaption { margin-bottom: .25rem; color: var(--quiet); font-size: .9375rem; }
.words blockquote {
  margin: 0; padding: .125rem 0 .125rem 1rem;
  border-inline-start: 3px solid var(--line); white-space: pre-line;
}
.words .long { max-height: 12rem; overflow: auto; }
.sent { white-space: pre-wrap; }
.sent.long { display: block; max-height: 12rem; overflow: auto; padding: .5rem .75rem; border: 1px solid var(--edge); border-radius: 8px; }
.box { margin: 0 0 1.25rem; padding: .75rem 1rem; border: 1px solid currentColor; border-radius: 10px; }
.box.warn { color: var(--warn); background: var(--warn-soft); }
.box.bad { color: var(--bad); background: var(--bad-soft); }

label { display: block; margin-bottom: .25rem; font-weight: 600; }
.help { margin: 0 0 .5rem; color: var(--quiet); font-size: .9375rem; }
input:not([type=hidden], [type=radio], [type=checkbox]), select, textarea {
  width: 100%; min-height: 2.75rem; margin: 0 0 1rem; padding: .5rem .75rem; font: inherit; color: inherit;
  background: var(--card); border: 1px solid var(--edge); border-radius: 8px;
}
:is(input, select, textarea)[aria-invalid=true] { border-color: var(--bad); border-width: 2px; }
.field { min-width: 0; margin: 0 0 1.25rem; padding: 0; border: 0; }
.field .quiet { font-weight: 400; }
.field > :last-child { margin-bottom: 0; }
legend { padding: 0; margin-bottom: .25rem; font-weight: 600; }
.choices { display: grid; gap: .25rem; }
.choice { display: flex; gap: .625rem; align-items: center; min-height: 2.75rem; margin: 0; font-weight: 400; cursor: pointer; }
.choice input { flex: none; width: 1.5rem; height: 1.5rem; margin: 0; accent-color: var(--accent); }
.fault { margin: 0 0 .5rem; color: var(--bad); font-weight: 600; }
.actions { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1.5rem 0 1rem; }
.actions form { display: contents; }
.sticky { position: sticky; top: 0; margin: 0 0 1rem; padding: .75rem 0; background: var(--card); border-bottom: 1px solid var(--line); }
button, .button {
  display: inline-block; padding: .6875rem 1.25rem;
  border: 1px solid var(--accent); border-radius: 8px; background: var(--accent); color: var(--on-accent);
  font: inherit; font-weight: 600; line-height: 1.3; text-align: center; text-decoration: none; cursor: pointer;
}
button:hover, .button:hover { background: var(--accent-over); border-color: var(--accent-over); }
.plain { background: transparent; border-color: var(--edge); color: var(--text); }
.plain:hover { background: var(--soft); border-color: var(--text); color: var(--text); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }

@media (max-width: 32rem) {
  body { padding: .75rem; }
  main { padding: 1.25rem; }
  .facts > div { grid-template-columns: minmax(0, 1fr); }
  .actions > *, .actions form > button { flex: 1 1 100%; }
  .items .button, .items button { display: block; width: 100%; }
}
@media (prefers-reduced-motion: reduce) { .turning svg { animation: none; } }
@media (prefers-contrast: more) { :root { --line: var(--edge); --quiet: var(--text); } }
@media (forced-colors: active) {
  .icon { border: 1px solid CanvasText; }
  button, .button { border-color: ButtonText; }
  :focus-visible { outline-color: Highlight; }
}
`;
