import { controlsOf } from '@parley/core/domain/forms/controls';
import type { Row } from '@parley/shared/domain/elicitations/row';
import type { ModalView } from '@slack/types';
import { mrkdwn, section } from './blocks.ts';
import { inputOf, plain } from './fields.ts';
import { FORM_VIEW } from './names.ts';
import { textsOf } from './question.ts';
import { lineText, piecesOf } from './text.ts';

const TITLE_MAX = 24;
/** Together with the maximum number of inputs, this gives the maximum number of blocks in a modal. */
const TEXTS_MAX = 10;

/** The form of a question as a modal. */
export function formModal({ id, definition }: Row): ModalView {
  const { requestedSchema: schema, title } = definition;
  return {
    type: 'modal',
    callback_id: FORM_VIEW,
    private_metadata: id,
    title: plain(lineText(title || 'Question', TITLE_MAX)),
    submit: plain('Send'),
    close: plain('Cancel'),
    blocks: [
      ...textsOf(definition)
        .flatMap((text) => piecesOf(text, 2_900))
        .slice(0, TEXTS_MAX)
        .map(section),
      ...controlsOf(schema).map(inputOf),
    ],
  };
}

/** The content of a modal that can no longer be submitted. `text` is mrkdwn. */
export function overModal(title: 'Question' | 'Approval', text: string): ModalView {
  return { type: 'modal', title: plain(title), close: plain('Close'), blocks: [mrkdwn(text)] };
}
