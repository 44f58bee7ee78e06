/** The English texts about deliveries. */
export const DELIVERIES_ENGLISH = {
  delivery: 'Delivery',
  outstanding: 'Outstanding',
  givenUp: 'Given up',
  deliveryKind: 'Kind',
  deliveryKinds: { webhook: 'Webhook', a2a: 'A2A update', slack: 'Slack' },
  deliveryStates: { waiting: 'Waiting', under_way: 'Under way', retrying: 'Retrying', dead: 'Given up' },
  record: 'Question or approval',
  attempts: 'Failed attempts',
  outstandingSince: 'Since',
  nextAttempt: 'Next attempt',
  action: 'Action',
  deliverNowWhat: 'It is delivered as soon as a worker has room, and its attempts begin anew.',
  deliverOne: (what: string) => `Deliver again: ${what}`,
  revokeLink: 'Revoke the answer link',
  revokeLinkTitle: 'Revoke the answer link?',
  revokeLinkWhat:
    'The link that was made last no longer opens. A browser that has opened it can no longer answer, either. A new one can be made.',
  linkIsRevoked: 'The link is revoked.',
  noLinkToRevoke: 'There was no link to revoke.',
};

/** The same in German. */
export const DELIVERIES_GERMAN: typeof DELIVERIES_ENGLISH = {
  delivery: 'Zustellung',
  outstanding: 'Ausstehend',
  givenUp: 'Aufgegeben',
  deliveryKind: 'Art',
  deliveryKinds: { webhook: 'Webhook', a2a: 'A2A-Meldung', slack: 'Slack' },
  deliveryStates: {
    waiting: 'Wartet',
    under_way: 'Läuft gerade',
    retrying: 'Neuer Versuch folgt',
    dead: 'Aufgegeben',
  },
  record: 'Frage oder Freigabe',
  attempts: 'Fehlversuche',
  outstandingSince: 'Seit',
  nextAttempt: 'Nächster Versuch',
  action: 'Aktion',
  deliverNowWhat: 'Es wird zugestellt, sobald ein Worker Platz hat, und die Versuche beginnen von vorn.',
  deliverOne: (what) => `Erneut zustellen: ${what}`,
  revokeLink: 'Antwortlink widerrufen',
  revokeLinkTitle: 'Den Antwortlink widerrufen?',
  revokeLinkWhat:
    'Der zuletzt erstellte Link öffnet nichts mehr. Auch ein Browser, der ihn schon geöffnet hat, kann nicht mehr antworten. Ein neuer kann erstellt werden.',
  linkIsRevoked: 'Der Link ist widerrufen.',
  noLinkToRevoke: 'Es gab keinen Link zu widerrufen.',
};
