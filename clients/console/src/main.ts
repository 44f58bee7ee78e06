import { ConsoleApp } from './shell/app.ts';

customElements.define('parley-console', ConsoleApp);
