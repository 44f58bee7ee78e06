/**
 * The questions that the gallery shows, in every state. Approvals are in `approvals.ts`, and the page itself is in
 * `gallery.ts`.
 */

import type { Elicitation } from '../src/index.ts';
import { CONTROLS, FIFTY, HOSTILE_SCHEMA, TRIP } from './schemas.ts';
import type { ServerBehaviour } from './simulated-server.ts';

/** One card of the gallery. */
export interface GalleryCard {
  readonly label: string;
  readonly elicitation?: Partial<Elicitation>;
  readonly play?: ServerBehaviour;
  /** The button that the gallery presses once the card is shown. */
  readonly press?: 'primary' | 'decline';
  readonly agent?: string;
  readonly className?: string;
}
export interface Group {
  readonly name: string;
  readonly cards: readonly GalleryCard[];
}

const MINUTES = 60_000;

const form: Partial<Elicitation> = {
  mode: 'form',
  title: 'Which trip should I book?',
  message: 'I found three trains that fit. Tell me how you want to travel and I will book the cheapest one.',
  requestedSchema: TRIP,
  context: { trigger: 'agent', agent: 'Travel planner' },
};
const link: Partial<Elicitation> = {
  mode: 'url',
  title: 'Connect your GitHub account',
  message: 'To open a pull request in your name I need access to your repositories.',
  url: 'https://parley.example.com/auth/connect/el_4fXw2mTq8Zr0vNpKcYb1Ah',
  completion: 'server',
  context: { trigger: 'credential_required', agent: 'Release helper', toolName: 'GitHub' },
};
const page: Partial<Elicitation> = {
  ...link,
  title: 'Confirm the payment',
  message: 'The shop asks you to confirm 48.20 € on its own page.',
  url: 'https://pay.example.com/confirm?order=8821-44&return=chat',
  completion: 'client',
  context: { trigger: 'mcp_elicitation', agent: 'Shopping assistant', server: 'Example Pay' },
};

function address(title: string, url: string): GalleryCard {
  return { label: title, elicitation: { ...page, title: 'Open this page?', url } };
}

/** Every state of a card, in the order in which a person would see them. */
export const GROUPS: readonly Group[] = [
  {
    name: 'Waiting for an answer',
    cards: [
      { label: 'Loading' },
      { label: 'Form', elicitation: { ...form, expiresAt: inMs(9.5 * MINUTES) } },
      { label: 'Account to connect', elicitation: { ...link, expiresAt: inMs(4.2 * MINUTES) } },
      { label: 'Page to open', elicitation: page },
      { label: 'Page opened', elicitation: { ...link, status: 'opened', expiresAt: inMs(3 * MINUTES) } },
      {
        label: 'No title, a description, a sensitive answer, less than a minute left',
        elicitation: {
          mode: 'form',
          message: 'Which reference should go on the invoice?',
          description: 'It is printed on the first page.\nYou find it in the order you were sent.',
          requestedSchema: {
            type: 'object',
            properties: { reference: { type: 'string', title: 'Reference' } },
          },
          sensitive: true,
          context: { trigger: 'mcp_elicitation', agent: 'Billing', toolName: 'Invoices' },
          expiresAt: inMs(0.8 * MINUTES),
        },
      },
      {
        label: 'Nothing to fill in',
        elicitation: {
          ...form,
          title: 'Shall I send the letter?',
          message: 'It goes to all 214 members of the club.',
          requestedSchema: { type: 'object', properties: {} },
        },
      },
      { label: 'Accent, corners and type of a page', elicitation: form, className: 'violet' },
    ],
  },
  {
    name: 'On its way, refused, out of reach',
    cards: [
      { label: 'Sending', elicitation: form, play: 'hangs', press: 'primary' },
      {
        label: 'Refused: an answer was left out',
        elicitation: { ...form, requestedSchema: CONTROLS },
        press: 'primary',
      },
      { label: 'Refused by the server at a field', elicitation: form, play: 'refuses', press: 'primary' },
      {
        label: 'Refused for being too fast',
        elicitation: { ...form, title: 'Too fast' },
        play: 'limits',
        press: 'primary',
      },
      { label: 'Offline', elicitation: form, play: 'offline' },
      { label: 'Offline with a page to open', elicitation: link, play: 'offline' },
    ],
  },
  {
    name: 'Settled',
    cards: [
      { label: 'Answered', elicitation: { ...form, status: 'accepted' } },
      { label: 'Connected', elicitation: { ...link, status: 'accepted' } },
      { label: 'Declined', elicitation: { ...form, status: 'declined' } },
      { label: 'Cancelled', elicitation: { ...form, status: 'cancelled' } },
      { label: 'Expired', elicitation: { ...link, status: 'expired' } },
      { label: 'Withdrawn', elicitation: { ...form, status: 'withdrawn', reason: 'run_stopped' } },
      { label: 'Elsewhere', elicitation: form, play: 'elsewhere' },
      { label: 'Gone', elicitation: form, play: 'gone' },
    ],
  },
  {
    name: 'Every control',
    cards: [
      {
        label: 'All of the form subset',
        elicitation: { ...form, title: 'Every control', requestedSchema: CONTROLS },
      },
    ],
  },
  {
    name: 'Addresses to look at twice',
    cards: [
      address('Letters that imitate others', 'https://аpple.com/signin'),
      address('A host without a name', 'https://192.0.2.7/login'),
      address('Not encrypted, odd port', 'http://login.example.com:8081/start'),
      address('A user name that looks like a site', 'https://paypal.com@login.example.net/secure'),
      address(
        'A very long one',
        `https://accounts.example.com.${'very-'.repeat(11)}long.example.net/a/${'path/'.repeat(40)}?next=${'x'.repeat(200)}`,
      ),
      address('A script', 'javascript:alert(document.domain)'),
      address('No address', 'call me on 555 0100'),
    ],
  },
  {
    name: 'Hostile input',
    cards: [
      {
        label: 'Mark-up, links and control characters stay text',
        elicitation: {
          ...form,
          title: '<img src=x onerror=alert(1)> \u202Egnp.exe\u202C',
          message:
            '<script>alert(1)</script>\n[Click here](javascript:alert(2)) or https://evil.example/now\n\u2066مرحبا\u2069 stays where it is, and so does \u202Ethis\u202C.\n\n   Blanks and line breaks are kept.',
          requestedSchema: HOSTILE_SCHEMA,
          context: { trigger: 'agent', agent: '\u202EPayPal <b>Security</b>' },
        },
      },
      {
        label: 'A message of 10,000 characters',
        elicitation: {
          ...form,
          title: 'A long story',
          message: 'Nobody reads all of this. '.repeat(385).slice(0, 10_000),
          requestedSchema: {
            type: 'object',
            properties: { ok: { type: 'boolean', title: 'I have read it' } },
          },
        },
      },
      {
        label: 'One word of 2,000 letters',
        elicitation: { ...form, title: 'W'.repeat(120), message: 'Ö'.repeat(2_000) },
      },
      { label: 'Fifty fields', elicitation: { ...form, title: 'Fifty fields', requestedSchema: FIFTY } },
    ],
  },
];

function inMs(ms: number): string {
  return new Date(Date.now() + ms).toISOString();
}
