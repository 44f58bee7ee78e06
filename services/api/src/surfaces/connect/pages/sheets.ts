import { accountsSheet, disconnectedSheet, disconnectSheet } from './accounts/sheets.ts';
import { answerEntrySheet, answerSheet } from './answer/sheets.ts';
import { approvalEndedSheet, approvalSheet } from './approval/sheets.ts';
import { consentSheet, devSignInSheet, secretSheet, signInSheet } from './asking-sheets.ts';
import {
  failedSheet,
  mismatchSheet,
  notFoundSheet,
  noticeSheet,
  refusedSheet,
  tooManySheet,
  unavailableSheet,
} from './ending-sheets.ts';
import type { Sheet } from './layout.ts';
import { linkedSheet, linkOtherSheet, linkSheet } from './link/sheets.ts';
import type { PageStrings } from './strings.ts';
import type { ConnectView } from './view.ts';
import { continueSheet, doneSheet, waitingSheet } from './way-sheets.ts';

/** What a view's page holds. */
export function sheetOf(view: ConnectView, strings: PageStrings): Sheet {
  switch (view.page) {
    case 'sign-in':
      return signInSheet(view, strings);
    case 'dev-sign-in':
      return devSignInSheet(view, strings);
    case 'accounts':
      return accountsSheet(view, strings);
    case 'disconnect':
      return disconnectSheet(view, strings);
    case 'disconnected':
      return disconnectedSheet(view, strings);
    case 'accounts-elsewhere':
      return noticeSheet(404, 'person', strings.accounts.elsewhere);
    case 'link':
      return linkSheet(view, strings);
    case 'linked':
      return linkedSheet(view, strings);
    case 'link-other':
      return linkOtherSheet(view, strings);
    case 'link-spent':
      return noticeSheet(410, 'time', strings.link.spent);
    case 'consent':
      return consentSheet(view, strings);
    case 'secret':
      return secretSheet(view, strings);
    case 'answer-entry':
      return answerEntrySheet(view, strings);
    case 'answer':
      return answerSheet(view, strings);
    case 'answered':
      return noticeSheet(200, 'good', strings.answer.answered);
    case 'answer-spent':
      return noticeSheet(403, 'stop', strings.answer.spent);
    case 'approval':
      return approvalSheet(view, strings);
    case 'approval-ended':
      return approvalEndedSheet(view, strings);
    case 'continue':
      return continueSheet(view, strings);
    case 'waiting':
      return waitingSheet(view, strings);
    case 'done':
      return doneSheet(view, strings);
    case 'declined':
      return noticeSheet(200, 'ended', strings.declined);
    case 'expired':
      return noticeSheet(410, 'time', strings.expired);
    case 'settled':
      return noticeSheet(409, 'ended', strings.settled);
    case 'mismatch':
      return mismatchSheet(view, strings);
    case 'not-found':
      return notFoundSheet(view, strings);
    case 'failed':
      return failedSheet(view, strings);
    case 'refused':
      return refusedSheet(view, strings);
    case 'too-many':
      return tooManySheet(view, strings);
    case 'unavailable':
      return unavailableSheet(view, strings);
  }
}
