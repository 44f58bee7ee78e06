import { createComponent, type EventName } from '@lit/react';
import * as React from 'react';
import { type InboxChange, ElicitationInbox as InboxElement } from './inbox.ts';
import { ElicitationCard as CardElement, type ElicitationChange, type ElicitationSettled } from './index.ts';

/** `<elicitation-card>` for React: its properties as props, its events as `onElicitation…`. */
export const ElicitationCard = createComponent({
  react: React,
  tagName: 'elicitation-card',
  elementClass: CardElement,
  displayName: 'ElicitationCard',
  events: {
    onElicitationChange: 'elicitation-change' as EventName<CustomEvent<ElicitationChange>>,
    onElicitationSettled: 'elicitation-settled' as EventName<CustomEvent<ElicitationSettled>>,
  },
});

/** `<elicitation-inbox>` for React. */
export const ElicitationInbox = createComponent({
  react: React,
  tagName: 'elicitation-inbox',
  elementClass: InboxElement,
  displayName: 'ElicitationInbox',
  events: {
    onElicitationInboxChange: 'elicitation-inbox-change' as EventName<CustomEvent<InboxChange>>,
  },
});

export type ElicitationCardProps = React.ComponentProps<typeof ElicitationCard>;
export type ElicitationInboxProps = React.ComponentProps<typeof ElicitationInbox>;
