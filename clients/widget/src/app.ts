import { ParleyApp } from './app/element.ts';

export { type AppWaits, ParleyApp } from './app/element.ts';
export type { AppServer, AppWait } from './app/parley.ts';

const NAME = 'parley-app';
// A page may load this file twice, from two addresses; the first definition stays.
if (customElements.get(NAME) === undefined) customElements.define(NAME, ParleyApp);

declare global {
  interface HTMLElementTagNameMap {
    'parley-app': ParleyApp;
  }
  interface HTMLElementEventMap {
    'app-waits': CustomEvent<import('./app/element.ts').AppWaits>;
  }
}
