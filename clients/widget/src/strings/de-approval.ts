/** The German texts of approvals, which are loaded with the German file only. Their type is in `approval.ts`. */

import type { RememberFor } from '@parley/core/domain/approvals/approval';
import { type ToolTrait, traitsOf } from '@parley/core/domain/approvals/tool-trait';
import type { ApprovalStrings, SettledApproval } from './approval.ts';
import { durationIn, momentIn, numberIn, pluralIn } from './time.ts';

const DE = 'de';
const number = (value: number) => numberIn(DE, value);
const counted = (count: number, one: string, other: string) =>
  `${number(count)} ${pluralIn(DE, count, one, other)}`;

const TRAITS: Readonly<Record<ToolTrait, string>> = {
  reads: 'Liest nach eigener Angabe nur',
  changes: 'Kann etwas ändern oder löschen',
  keeps: 'Löscht nach eigener Angabe nichts',
  reaches: 'Kann andere Dienste erreichen',
  unknown: 'Sagt nicht, was es kann',
};

/** The German texts of approvals, part of the German file. */
export const GERMAN_APPROVAL: ApprovalStrings = {
  approvalTitle: (agent, tool) => `${agent} möchte „${tool}“ benutzen`,
  approvalsTitle: (agent, count) => `${agent} möchte ${counted(count, 'Aufruf', 'Aufrufe')} machen`,
  approvalArrived: (agent) => `${agent} bittet um Ihre Zustimmung`,
  toolOf: (server) => `Werkzeug von ${server}`,
  toolHints: (hints) => traitsOf(hints).map((trait) => TRAITS[trait]),
  argumentsTitle: 'Angaben',
  noArguments: 'Ohne Angaben',
  secretValue: 'geheim, wird nicht gezeigt',
  emptyText: 'leerer Text',
  entries: (count) => counted(count, 'Eintrag', 'Einträge'),
  moreEntries: (count) => `${number(count)} weitere`,

  approve: 'Zustimmen',
  approveAll: (count) => `Allen ${number(count)} zustimmen`,
  editCall: 'Ändern',
  approveEdited: 'Mit diesen Änderungen zustimmen',
  deny: 'Ablehnen',
  denyAll: (count) => `Alle ${number(count)} ablehnen`,
  back: 'Zurück',
  denyReason: 'Grund (freiwillig; der Agent liest ihn)',
  rememberFor,
  rememberHint: 'Für dieses Werkzeug, diesen Agenten und dieselbe Regel, mit beliebigen Angaben.',
  notEditable: (names) => `Bleibt, wie es ist: ${names}`,
  badJson: 'ist kein gültiges JSON',
  checkCallFirst: 'Bitte prüfen Sie zuerst den Aufruf.',

  approvalEnded: ended,
  approvalGone: 'Diese Anfrage gibt es nicht mehr.',
  approvalOffline: 'Keine Verbindung. Bis sie wieder da ist, wird von hier aus nichts entschieden.',
  approvalRefusal: (code, retryAfterSeconds) => {
    switch (code) {
      case 'invalid_answer':
        return 'Nicht angenommen. Bitte prüfen Sie die Angaben.';
      case 'unauthenticated':
      case 'forbidden':
        return 'Sie sind abgemeldet, oder diese Anfrage ist für jemand anderen.';
      case 'too_large':
        return 'Die Angaben sind zu lang.';
      case 'rate_limited':
        return `Bitte warten Sie ${durationIn(DE, (retryAfterSeconds ?? 10) * 1_000)} und versuchen Sie es noch einmal.`;
      default:
        return 'Ihre Entscheidung kam vielleicht nicht an. Bitte versuchen Sie es noch einmal.';
    }
  },
  editedTitle: 'Angaben, denen zugestimmt wurde',
  deniedBecause: (reason) => `Grund: ${reason}`,
  isRemembered: 'Nach solchen Aufrufen wird vorerst nicht gefragt.',

  rememberedTitle: 'Gemerkte Zustimmungen',
  rememberedEmpty: 'Nichts ist gemerkt: Nach jedem Aufruf wird gefragt.',
  rememberedFailed: 'Sie ließen sich nicht laden.',
  rememberedScope: ({ isConversation, expiresAt }) =>
    isConversation ? 'in einem Gespräch' : `bis ${momentIn(DE, expiresAt)}`,
  revoke: 'Widerrufen',
  revokeFailed: 'Der Widerruf gelang nicht. Bitte versuchen Sie es noch einmal.',
  revoked: (tool) => `Nach ${tool} wird wieder gefragt`,
};

function rememberFor(time: RememberFor): string {
  return time === 'conversation'
    ? 'In diesem Gespräch nicht mehr fragen'
    : `${counted(time.days, 'Tag', 'Tage')} lang nicht mehr fragen`;
}

function ended({ status, here, reason }: SettledApproval): string {
  switch (status) {
    case 'approved':
      return here ? 'Sie haben zugestimmt.' : 'Dem wurde an anderer Stelle zugestimmt.';
    case 'edited':
      return here
        ? 'Sie haben mit Änderungen zugestimmt.'
        : 'Dem wurde an anderer Stelle mit Änderungen zugestimmt.';
    case 'denied':
      return here ? 'Sie haben abgelehnt.' : 'Das wurde an anderer Stelle abgelehnt.';
    case 'expired':
      return 'Die Zeit für die Entscheidung ist abgelaufen. Der Aufruf unterbleibt.';
    case 'withdrawn':
      return reason === 'run_stopped'
        ? 'Das Gespräch wurde angehalten. Der Aufruf unterbleibt.'
        : 'Das wird nicht mehr gebraucht. Der Aufruf unterbleibt.';
  }
}
