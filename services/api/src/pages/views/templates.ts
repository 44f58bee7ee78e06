/** Chooses the template of a view. The templates are in the files beside this one. */

import type { Template } from '../kit/layout.ts';
import { accountsTemplate, disconnectedTemplate, disconnectTemplate } from './accounts/templates.ts';
import { answerEndedTemplate, answerEntryTemplate, answerTemplate } from './answer/templates.ts';
import { approvalEndedTemplate, approvalTemplate } from './approval/templates.ts';
import { inboxLink } from './asker.ts';
import { consentTemplate, devSignInTemplate, secretTemplate, signInTemplate } from './asking-templates.ts';
import { noRoleTemplate } from './console/templates.ts';
import {
  failedTemplate,
  mismatchTemplate,
  notFoundTemplate,
  noticeTemplate,
  refusedTemplate,
  tooManyTemplate,
  unavailableTemplate,
} from './ending-templates.ts';
import { groupTemplate } from './inbox/group-template.ts';
import { inboxTemplate } from './inbox/templates.ts';
import { linkedTemplate, linkOtherTemplate, linkTemplate } from './link/templates.ts';
import type { PageStrings } from './strings-en.ts';
import type { PageView } from './view.ts';
import { continueTemplate, doneTemplate, waitingTemplate } from './way-templates.ts';

/** The content of a view's page. */
export function sheetOf(view: PageView, strings: PageStrings): Template {
  switch (view.page) {
    case 'sign-in':
      return signInTemplate(view, strings);
    case 'dev-sign-in':
      return devSignInTemplate(view, strings);
    case 'no-role':
      return noRoleTemplate(view, strings);
    case 'accounts':
      return accountsTemplate(view, strings);
    case 'disconnect':
      return disconnectTemplate(view, strings);
    case 'disconnected':
      return disconnectedTemplate(view, strings);
    case 'inbox':
    case 'inbox-elsewhere':
    case 'group':
    case 'group-partly':
      return inboxSheetOf(view, strings);
    case 'accounts-elsewhere':
      return noticeTemplate(404, 'person', strings.accounts.elsewhere);
    case 'link':
    case 'linked':
    case 'link-other':
    case 'link-spent':
      return linkSheetOf(view, strings);
    case 'consent':
      return consentTemplate(view, strings);
    case 'secret':
      return secretTemplate(view, strings);
    case 'answer-entry':
      return answerEntryTemplate(view, strings);
    case 'answer':
      return answerTemplate(view, strings);
    case 'answer-ended':
      return answerEndedTemplate(view, strings);
    case 'answer-spent':
      return noticeTemplate(403, 'stop', strings.answer.spent);
    case 'approval':
      return approvalTemplate(view, strings);
    case 'approval-ended':
      return approvalEndedTemplate(view, strings);
    case 'continue':
      return continueTemplate(view, strings);
    case 'waiting':
      return waitingTemplate(view, strings);
    case 'done':
      return doneTemplate(view, strings);
    case 'declined':
      return noticeTemplate(200, 'ended', strings.declined);
    case 'expired':
      return noticeTemplate(410, 'time', strings.expired);
    case 'settled':
      return noticeTemplate(409, 'ended', strings.settled);
    case 'mismatch':
      return mismatchTemplate(view, strings);
    case 'not-found':
      return notFoundTemplate(view, strings);
    case 'failed':
      return failedTemplate(view, strings);
    case 'refused':
      return refusedTemplate(view, strings);
    case 'too-many':
      return tooManyTemplate(view, strings);
    case 'unavailable':
      return unavailableTemplate(view, strings);
  }
}

type LinkPage = 'link' | 'linked' | 'link-other' | 'link-spent';

function linkSheetOf(view: Extract<PageView, { page: LinkPage }>, strings: PageStrings): Template {
  switch (view.page) {
    case 'link':
      return linkTemplate(view, strings);
    case 'linked':
      return linkedTemplate(view, strings);
    case 'link-other':
      return linkOtherTemplate(view, strings);
    case 'link-spent':
      return noticeTemplate(410, 'time', strings.link.spent);
  }
}

type InboxPage = 'inbox' | 'inbox-elsewhere' | 'group' | 'group-partly';

function inboxSheetOf(view: Extract<PageView, { page: InboxPage }>, strings: PageStrings): Template {
  switch (view.page) {
    case 'inbox':
      return inboxTemplate(view, strings);
    case 'group':
      return groupTemplate(view, strings);
    case 'group-partly':
      return noticeTemplate(
        409,
        'ended',
        strings.inbox.group.partly(view.recorded, view.chosen),
        inboxLink(strings),
      );
    case 'inbox-elsewhere':
      return noticeTemplate(404, 'person', strings.inbox.elsewhere);
  }
}
