import { ConsoleTimeline } from './element.ts';

if (customElements.get('console-timeline') === undefined)
  customElements.define('console-timeline', ConsoleTimeline);
