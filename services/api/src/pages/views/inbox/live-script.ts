/** The script that keeps an open inbox page up to date. The pages work without it; their templates are in `templates.ts`. */

import { html } from '../../kit/html.ts';

// The script of the inbox's pages, which keeps an open page up to date. The texts below are sent to browsers unchanged. The
// script creates no markup from text, and calls only its own origin.
//
// An event says that something has changed. The page then fetches itself again, at most once a second, and takes over the
// differences element by element. Elements stay the same objects, so that the focus, typed text and checked boxes are kept.
//
// An element that has the focus is never moved or removed; it shows that its record has ended. Nor are the calls of a group
// removed. New calls of a group are not checked, because nobody has read them. A call that the newer page does not show cannot
// be chosen, even if it may still be open, because the page's statements about all calls do not include it.

/** Takes over the content of a newer document. `own` elements are made by the script, and no document contains them. */
const TAKE_OVER = html`
const own = '[data-own], [role=alert]';
const isOwn = (node) => node.nodeType === 1 && node.matches(own);
const keyOf = (node) => node.dataset?.key;
const hasFocus = (node) => node.contains(document.activeElement);

function takeOver(old, next) {
  if (old.matches('input:not([type=hidden]), select, textarea')) return;
  for (const { name } of [...old.attributes]) if (!next.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of next.attributes)
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  const before = [...old.childNodes].filter((node) => !isOwn(node));
  const rest = new Set(before);
  const wanted = [...next.childNodes].map((node) => {
    const same = [...rest].find((one) => one.nodeName === node.nodeName && keyOf(one) === keyOf(node));
    if (!same) return added(node);
    rest.delete(same);
    // It is listed again: as a new one, which can be chosen.
    if (isItem(same) && same.hasAttribute('data-ended') && !hasFocus(same)) {
      same.remove();
      return added(node);
    }
    if (same.nodeType === 1) takeOver(same, node);
    else if (same.nodeValue !== node.nodeValue) same.nodeValue = node.nodeValue;
    return same;
  });
  for (const gone of rest) {
    if (stays(gone)) wanted.splice(before.indexOf(gone), 0, gone);
    else gone.remove();
  }
  arrange(old, wanted);
}

function arrange(parent, wanted) {
  let at = parent.firstChild;
  for (const node of wanted) {
    while (at && isOwn(at)) at = at.nextSibling;
    // A browser takes the focus from an element that moves: the others move around it.
    while (hasFocus(node) && at !== node) {
      const later = at;
      at = at.nextSibling;
      if (!isOwn(later)) parent.append(later);
    }
    if (at === node) at = node.nextSibling;
    else parent.insertBefore(node, at);
  }
}
`;

/** Marks items that began or ended. */
const ITEMS = html`
const root = document.querySelector('[data-live]');
const isGroup = root.dataset.live === 'group';
const texts = new Map([...document.querySelectorAll('#texts > *')].map((one) => [one.dataset.about, one.textContent]));
const endings = new Map();
const isItem = (node) => node.nodeType === 1 && node.matches('li[data-key]');
const news = new Set();

function say(about) {
  news.add(texts.get(about));
}

function note(item, about) {
  let line = item.querySelector(':scope > [data-own]');
  if (!line) {
    line = document.createElement('p');
    line.dataset.own = '';
    line.className = 'box warn';
    item.append(line);
  }
  if (line.textContent !== texts.get(about)) line.textContent = texts.get(about);
}

function added(node) {
  const item = document.importNode(node, true);
  if (isGroup && isItem(item)) {
    for (const input of item.querySelectorAll('input')) input.checked = false;
    note(item, 'begun');
    say('begunNews');
  }
  return item;
}

function stays(node) {
  if (!isItem(node)) return node.nodeType === 1 && hasFocus(node);
  if (!isGroup && !hasFocus(node)) return false;
  const links = [...node.querySelectorAll('a')].map(({ href }) => href).join(' ');
  const status = [...endings].find(([id]) => keyOf(node) === id || links.includes(id))?.[1];
  const mayBeOpen = !status && root.dataset.partial === 'true';
  if (mayBeOpen && !isGroup) return true;
  if (isGroup && !node.hasAttribute('data-ended')) say(mayBeOpen ? 'unseenNews' : 'endedNews');
  node.dataset.ended = '';
  note(node, mayBeOpen ? 'unseen' : texts.has(status) ? status : 'ended');
  // A disabled control would lose the focus.
  for (const input of node.querySelectorAll('input')) {
    input.checked = false;
    input.removeAttribute('name');
    input.setAttribute('aria-disabled', 'true');
  }
  return true;
}

function show(next) {
  const newer = next.querySelector('[data-live]');
  if (newer === null) return signedOut();
  if (newer.dataset.live === root.dataset.live) {
    document.title = next.title;
    takeOver(document.querySelector('h1'), next.querySelector('h1'));
    takeOver(root, newer);
  } else for (const item of root.querySelectorAll('li[data-key]')) stays(item);
  if (isGroup)
    for (const [at, { lastChild }] of [...root.querySelectorAll('li[data-key] > label')].entries())
      lastChild.nodeValue = lastChild.nodeValue.replace(/[0-9]+/, at + 1);
  if (news.size > 0) document.getElementById('news').textContent = [...news].join(' ');
  news.clear();
}

document.addEventListener('click', (event) => {
  if (event.target.matches('[aria-disabled=true]')) event.preventDefault();
});
document.addEventListener('focusin', () => {
  if (!isGroup) for (const item of root.querySelectorAll('[data-ended]')) if (!hasFocus(item)) item.remove();
});
`;

/** Determines when the page fetches itself. */
const FOLLOW = html`
let stream;
let opening;
let reading = 0;
let isStale = false;
let isOut = false;
let readAt = 0;

function signedOut() {
  isOut = true;
  stop();
  document.getElementById('news').textContent = texts.get('signedOut');
}

function soon(ms = Math.max(100, readAt + 1000 - Date.now())) {
  if (isOut || document.hidden) return;
  if (!reading) reading = setTimeout(read, ms);
  else isStale = true;
}

function read() {
  isStale = false;
  const request = new XMLHttpRequest();
  request.open('GET', root.dataset.again);
  request.responseType = 'document';
  request.timeout = 15000;
  request.onloadend = () => {
    reading = 0;
    readAt = Date.now();
    const isRead = request.status === 200 && request.response !== null;
    if (isRead) show(request.response);
    if (!isRead) soon(2000 + Math.random() * 6000);
    else if (isStale) soon();
  };
  request.send();
}

function stop() {
  clearTimeout(opening);
  stream?.close();
}

function follow() {
  stop();
  if (isOut || document.hidden) return;
  const current = new EventSource(root.dataset.events);
  stream = current;
  current.addEventListener('changed', ({ data }) => {
    const { id, status } = JSON.parse(data);
    if (endings.size >= 1000) endings.clear();
    if (id) endings.set(id, status);
    soon();
  });
  // A browser opens a stream again by itself, but not one that was refused: the session may have ended, or the pod is busy.
  current.addEventListener('error', () => {
    if (current.readyState !== EventSource.CLOSED || current !== stream) return;
    soon();
    opening = setTimeout(follow, 2000 + Math.random() * 8000);
  });
}

document.addEventListener('visibilitychange', follow);
addEventListener('pagehide', stop);
addEventListener('pageshow', ({ persisted }) => persisted && follow());
follow();
`;

/** The whole script, the same text for everyone. */
export const LIVE_SCRIPT = html`{${TAKE_OVER}${ITEMS}${FOLLOW}}`;
