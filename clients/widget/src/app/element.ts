/**
 * The element that shows the page of an MCP server in a chat, with its frame, its links and its waits. Messages with the frame
 * are in `host.ts`, and calls of Parley in `parley.ts`.
 */

import { html, LitElement, nothing, type PropertyValues } from 'lit';
import { InViewTimer } from '../card/in-view.ts';
import { type AppContext, type AppHost, startApp } from './host.ts';
import { type AppPage, type AppServer, type AppWait, createAppCalls } from './parley.ts';
import { styles } from './styles.ts';
import { textsOf } from './texts.ts';

/** The detail of the event `app-waits`: what a call of the page is waiting for. */
export interface AppWaits {
  readonly waits: readonly AppWait[];
}

interface AskedLink {
  readonly url: string;
  readonly decide: (isOpened: boolean) => void;
}

type Phase = 'loading' | 'shown' | 'failed' | 'ended';

const HEIGHT_MIN = 40;
const HEIGHT_MAX = 800;
const DARK = '(prefers-color-scheme: dark)';

/**
 * Shows the page of a tool (MCP Apps) in a chat, in a sandbox from another origin. Without `sandboxUrl` it shows nothing. When
 * a call of the page asks its person something, it dispatches `app-waits` and shows the element that `cardFor` returns for each
 * wait.
 */
export class ParleyApp extends LitElement {
  static override styles = styles;
  static override properties = {
    server: { attribute: false },
    cardFor: { attribute: false },
    sandboxUrl: { attribute: 'sandbox-url' },
    conversationId: { attribute: 'conversation-id' },
    pageId: { attribute: 'page-id' },
    service: {},
    theme: {},
    phase: { state: true },
    link: { state: true },
    waits: { state: true },
  };

  declare server: AppServer | undefined;
  /** Makes the card of a wait, in the same way as `createElicitationCards`. */
  declare cardFor: ((part: AppWait) => Element | undefined) | undefined;
  /** The URL of `sandbox.html`, on another origin than this page. */
  declare sandboxUrl: string | undefined;
  declare conversationId: string | undefined;
  declare pageId: string | undefined;
  /** The title of the server, which is the name of the frame. */
  declare service: string | undefined;
  /** @default the system's setting */
  declare theme: 'light' | 'dark' | undefined;
  declare phase: Phase;
  declare link: AskedLink | undefined;
  declare waits: readonly AppWait[];

  #host: AppHost | undefined;
  #shown: AppPage | undefined;
  /** The height that the view requests, in px. */
  #height: number | undefined;
  readonly #inView = new InViewTimer(() => this.requestUpdate());
  #ending = new AbortController();
  readonly #dark = window.matchMedia(DARK);

  constructor() {
    super();
    this.phase = 'loading';
    this.waits = [];
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#dark.addEventListener('change', this.#tellContext);
    document.addEventListener('visibilitychange', this.#onVisibility);
    if (this.hasUpdated) void this.#load();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#dark.removeEventListener('change', this.#tellContext);
    document.removeEventListener('visibilitychange', this.#onVisibility);
    this.#inView.watch(undefined);
    this.#end();
  }

  override updated(changed: PropertyValues<ParleyApp>): void {
    const isAnother = (['server', 'sandboxUrl', 'conversationId', 'pageId'] as const).some((name) =>
      changed.has(name),
    );
    if (isAnother) void this.#load();
    if (changed.has('theme')) this.#tellContext();
    this.#inView.watch(this.renderRoot.querySelector('.open') ?? undefined);
    this.#fit();
  }

  readonly #onVisibility = (): void => this.#inView.update();

  get #sandboxOrigin(): string | undefined {
    const { sandboxUrl = '' } = this;
    if (!URL.canParse(sandboxUrl, document.baseURI)) return undefined;
    const { href, origin } = new URL(sandboxUrl, document.baseURI);
    return origin === location.origin || !isWebAddress(href) ? undefined : origin;
  }

  #end(): void {
    this.#ending.abort();
    this.link?.decide(false);
    this.#host?.close();
    this.#host = undefined;
    this.#height = undefined;
    this.waits = [];
  }

  async #load(): Promise<void> {
    this.#end();
    const { server, conversationId, pageId } = this;
    if (server === undefined || conversationId === undefined || pageId === undefined) return;
    this.#ending = new AbortController();
    const { signal } = this.#ending;
    this.phase = this.#sandboxOrigin === undefined ? 'failed' : 'loading';
    if (this.phase === 'failed') return;
    const calls = createAppCalls(server, { conversationId, pageId });
    const shown = await calls.read(signal).catch(() => undefined);
    if (signal.aborted) return;
    this.#shown = shown;
    this.phase = shown === undefined ? 'failed' : 'shown';
    await this.updateComplete;
    if (shown !== undefined) await this.#start(calls, shown, signal);
  }

  async #start(calls: ReturnType<typeof createAppCalls>, shown: AppPage, signal: AbortSignal): Promise<void> {
    const frame = this.renderRoot.querySelector('iframe');
    const origin = this.#sandboxOrigin;
    if (!frame?.contentWindow || origin === undefined || signal.aborted) return;
    const host = await startApp({
      frame: frame.contentWindow,
      origin,
      shown,
      context: this.#context(),
      call: (name, args, ending) => {
        let asked: readonly AppWait[] = [];
        const show = (waits: readonly AppWait[]) => {
          this.waits = [...this.waits.filter((one) => !asked.some(({ id }) => id === one.id)), ...waits];
          asked = waits;
          if (waits.length > 0) this.#dispatch({ waits });
        };
        return calls.call(name, args, ending, show).finally(() => show([]));
      },
      openLink: (url) => this.#askToOpen(url),
      onHeight: (height) => {
        this.#height = height;
        this.#fit();
      },
      onFlood: () => {
        this.#end();
        this.phase = 'ended';
      },
    });
    if (signal.aborted) return host.close();
    this.#host = host;
    // The address is set after the transport is listening, so that no message of the sandbox is missed.
    frame.src = this.sandboxUrl ?? '';
  }

  #dispatch(detail: AppWaits): void {
    this.dispatchEvent(new CustomEvent('app-waits', { detail, bubbles: true, composed: true }));
  }

  /**
   * Gives the frame the height that its view requests. While the person is deciding below the frame, its height does not
   * change; otherwise a view could move a button under the pointer.
   */
  #fit(): void {
    const frame = this.renderRoot.querySelector('iframe');
    const isDeciding = this.link !== undefined || this.waits.length > 0;
    const height = this.#height ?? Number.NaN;
    if (frame === null || isDeciding || !Number.isFinite(height)) return;
    // The height is set by a script, because a strict page refuses style attributes.
    frame.style.height = `${Math.round(Math.min(Math.max(height, HEIGHT_MIN), HEIGHT_MAX))}px`;
  }

  #context(): AppContext {
    return {
      theme: this.theme ?? (this.#dark.matches ? 'dark' : 'light'),
      locale: this.#lang,
      timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      displayMode: 'inline',
      availableDisplayModes: ['inline'],
      containerDimensions: { maxHeight: HEIGHT_MAX },
      platform: 'web',
    };
  }

  readonly #tellContext = (): void => this.#host?.setContext(this.#context());

  get #lang(): string {
    return this.closest('[lang]')?.getAttribute('lang') || navigator.language;
  }

  /** Asks the person about one address at a time. Anything but a web address is refused. */
  #askToOpen(url: string): Promise<boolean> {
    if (this.link !== undefined || !isWebAddress(url)) return Promise.resolve(false);
    return new Promise((resolve) => {
      const decide = (isOpened: boolean) => {
        this.link = undefined;
        resolve(isOpened);
      };
      this.link = { url: new URL(url).href, decide };
    });
  }

  #open({ url, decide }: AskedLink): void {
    window.open(url, '_blank', 'noopener,noreferrer');
    decide(true);
  }

  override render(): unknown {
    if (this.sandboxUrl === undefined) return nothing;
    const texts = textsOf(this.#lang);
    const service = this.service ?? '';
    if (this.phase === 'loading') return html`<p role="status">${texts.loading}</p>`;
    if (this.phase === 'failed' || this.phase === 'ended')
      return html`<p role="alert">${texts[this.phase]}</p>
        <button type="button" @click=${() => this.#load()}>${texts.retry}</button>`;
    const isPlain = this.#shown?.page.prefersBorder === false;
    const { link, waits } = this;
    return html`<figure class=${isPlain ? 'plain' : ''}>
      <figcaption>${texts.from(service)}</figcaption>
      <iframe
        title=${texts.from(service)}
        sandbox="allow-scripts allow-same-origin"
        referrerpolicy="no-referrer"
      ></iframe>
      ${
        link === undefined
          ? nothing
          : html`<div class="bar" role="group" aria-label=${texts.opens(service)}>
              <p role="alert">${texts.opens(service)}</p>
              <p class="url">${link.url}</p>
              <button
                type="button"
                class="open"
                ?disabled=${!this.#inView.isReady}
                @click=${() => this.#open(link)}
              >
                ${texts.open}
              </button>
              <button type="button" @click=${() => link.decide(false)}>${texts.stay}</button>
            </div>`
      }
      ${
        waits.length === 0
          ? nothing
          : html`<div class="bar"><p role="status">${texts.waits(service)}</p>
              ${waits.map((wait) => this.cardFor?.(wait) ?? nothing)}</div>`
      }
    </figure>`;
  }
}

function isWebAddress(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}
