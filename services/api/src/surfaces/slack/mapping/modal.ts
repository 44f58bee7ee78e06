import type { Row } from '@parley/shared/domain/elicitations/row';
import type { KnownBlock, ModalView } from '@slack/types';
import { inputOf, plain } from './fields.ts';
import { FORM_VIEW } from './names.ts';
import { clipped, escaped, piecesOf } from './text.ts';

const TITLE_MAX = 24;

/** The form of a question as a modal. */
export function formModal({ id, definition }: Row): ModalView {
  const { requestedSchema: schema, title, message } = definition;
  const fields = Object.entries(schema?.properties ?? {});
  const required = new Set(schema?.required ?? []);
  return {
    type: 'modal',
    callback_id: FORM_VIEW,
    private_metadata: id,
    title: plain(clipped(title || 'Question', TITLE_MAX)),
    submit: plain('Send'),
    close: plain('Cancel'),
    blocks: [
      ...piecesOf(message, 2_900).map(section),
      ...fields.map(([name, field], index) => inputOf(name, field, index, required.has(name))),
    ],
  };
}

/** What a modal becomes when its question is over. */
export function overModal(text: string): ModalView {
  return { type: 'modal', title: plain('Question'), close: plain('Close'), blocks: [section(text)] };
}

function section(text: string): KnownBlock {
  return { type: 'section', text: { type: 'mrkdwn', text: escaped(text) || ' ', verbatim: true } };
}
