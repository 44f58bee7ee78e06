import type { ConsoleSite } from '../../harness/console/site.ts';
import { askAsService, askForWebhook, HOSTILE, talkOf } from './setup.ts';

/** A page of the console, and what a role changes on it. */
export interface PageOfRoles {
  readonly path: string;
  /** How its heading begins. */
  readonly heading: string;
  /** A button of those who act. */
  readonly act?: string;
  /** True where the words of people and agents are, and a note in place of them for those who may not read them. */
  readonly hasContent?: true;
  /** The card in which they are. */
  readonly card?: 'elicitation-card' | 'approval-card';
}

/** Every page of the console, with something on each. `name`: of the conversations that are begun for them. */
export async function everyPage(site: ConsoleSite, name: string): Promise<readonly PageOfRoles[]> {
  const [asked, held, led, hostile] = await Promise.all([
    talkOf(site, { text: `ask ${HOSTILE}`, chatId: `asked-${name}` }),
    talkOf(site, { text: `book ${HOSTILE}`, chatId: `held-${name}`, agent: 'desk' }),
    talkOf(site, { text: 'lead', chatId: `led-${name}`, agent: 'lead' }),
    askAsService(site),
    askForWebhook(site, HOSTILE),
  ]);
  const ofLed = `userId=${led.userId}`;
  return [
    { path: '/console', heading: 'Overview' },
    { path: '/console/elicitations', heading: 'Questions' },
    {
      path: `/console/elicitations/${asked.id}`,
      heading: 'Question',
      act: 'Withdraw',
      hasContent: true,
      card: 'elicitation-card',
    },
    {
      path: `/console/elicitations/${hostile}`,
      heading: 'Question',
      act: 'Make an answer link',
      hasContent: true,
      card: 'elicitation-card',
    },
    { path: '/console/approvals?state=open', heading: 'Approvals' },
    {
      path: `/console/approvals/${held.id}`,
      heading: 'Approval',
      act: 'Withdraw',
      hasContent: true,
      card: 'approval-card',
    },
    { path: '/console/turns', heading: 'Turns' },
    { path: `/console/turns/${led.turn}?${ofLed}`, heading: 'Turn', act: 'Stop' },
    { path: '/console/deliveries?kind=webhook', heading: 'Deliveries' },
    { path: '/console/people', heading: 'People' },
    { path: '/console/insights?by=tool&window=day', heading: 'Insights' },
    { path: `/console/people/${encodeURIComponent(HOSTILE)}`, heading: 'Person', act: 'Erase' },
    { path: `/console/conversations/led-${name}?${ofLed}`, heading: 'Conversation', hasContent: true },
    { path: '/console/elicitations/el_0_none', heading: 'Question' },
    { path: '/console/nothing', heading: 'Page not found' },
  ];
}
