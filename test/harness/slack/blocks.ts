import { faultOfRichText, first, listOf } from './rich-text.ts';

/** Checks blocks and views against the limits that Slack documents for Block Kit. Returns the first fault. */

type Json = Readonly<Record<string, unknown>>;

const ELEMENTS_MAX: Readonly<Record<string, number>> = { actions: 25, context: 10 };
const INPUTS = new Set([
  'plain_text_input',
  'email_text_input',
  'url_text_input',
  'number_input',
  'datepicker',
  'datetimepicker',
  'checkboxes',
  'radio_buttons',
  'static_select',
  'multi_static_select',
]);
const OPTIONS_MAX: Readonly<Record<string, number>> = {
  checkboxes: 10,
  radio_buttons: 10,
  static_select: 100,
  multi_static_select: 100,
};

export function faultOfMessage(message: Json): string | undefined {
  const blocks = listOf(message.blocks);
  if (blocks.length > 50) return 'more than 50 blocks';
  if (String(message.text ?? '').length > 40_000) return 'text too long';
  if (blocks.length === 0 && (message.text ?? '') === '') return 'no_text';
  // Not documented; measured by others (slackapi/bolt-js, issue 2509).
  if (JSON.stringify(blocks).length > 13_200) return 'msg_blocks_too_long';
  return faultOfBlocks(blocks, 'message');
}

export function faultOfView(view: Json): string | undefined {
  const blocks = listOf(view.blocks);
  if (blocks.length === 0 || blocks.length > 100) return 'a view has 1 to 100 blocks';
  if (Buffer.byteLength(JSON.stringify(view)) > 250_000) return 'view_too_large';
  for (const name of ['title', 'submit', 'close'])
    if (view[name] !== undefined && textOf(view[name]).length > 24) return `${name} is longer than 24`;
  if (String(view.private_metadata ?? '').length > 3_000) return 'private_metadata is longer than 3000';
  if (blocks.some(({ type }) => type === 'input') && view.submit === undefined) return 'input without submit';
  return faultOfBlocks(blocks, 'modal');
}

function faultOfBlocks(blocks: readonly Json[], where: 'message' | 'modal'): string | undefined {
  const ids = blocks.map(({ block_id }) => block_id).filter((id) => id !== undefined);
  if (new Set(ids).size !== ids.length) return 'block_id twice';
  for (const block of blocks) {
    const fault = faultOfBlock(block, where);
    if (fault !== undefined) return `${String(block.type)}: ${fault}`;
  }
  return undefined;
}

function faultOfBlock(block: Json, where: 'message' | 'modal'): string | undefined {
  switch (block.type) {
    case 'header':
      return between(textOf(block.text), 1, 150);
    case 'section':
      return between(textOf(block.text), 1, 3_000);
    case 'context':
    case 'actions': {
      const elements = listOf(block.elements);
      const most = ELEMENTS_MAX[String(block.type)] ?? 0;
      if (elements.length === 0 || elements.length > most) return `1 to ${most} elements`;
      const names = elements.map(({ action_id }) => action_id).filter((id) => id !== undefined);
      if (new Set(names).size !== names.length) return 'action_id twice';
      return first(elements, (element) => (element.type === 'button' ? faultOfButton(element) : undefined));
    }
    case 'rich_text':
      return (
        first(listOf(block.elements), faultOfRichText) ??
        (listOf(block.elements).length === 0 ? 'no elements' : undefined)
      );
    case 'divider':
      return undefined;
    case 'input':
      return where === 'modal' ? faultOfInput(block) : 'an input in a message';
    default:
      return 'unknown block';
  }
}

function faultOfButton({ text, value, url, action_id, style }: Json): string | undefined {
  if (style !== undefined && style !== 'primary' && style !== 'danger') return `no style ${String(style)}`;
  if (String(value ?? '').length > 2_000) return 'value is longer than 2000';
  if (String(url ?? '').length > 3_000) return 'url is longer than 3000';
  if (String(action_id ?? '').length > 255) return 'action_id is longer than 255';
  return between(textOf(text), 1, 75);
}

function faultOfInput({ label, hint, element, block_id }: Json): string | undefined {
  if (String(block_id ?? '').length > 255) return 'block_id is longer than 255';
  const faultOfLabel = between(textOf(label), 1, 2_000);
  if (faultOfLabel !== undefined) return faultOfLabel;
  if (hint !== undefined && textOf(hint).length > 2_000) return 'hint is longer than 2000';
  const input = element as Json;
  const type = String(input.type);
  if (!INPUTS.has(type)) return `no input ${type}`;
  const faultOfPreset = boundsFault(type, input) ?? presetFault(input);
  if (faultOfPreset !== undefined) return faultOfPreset;
  const most = OPTIONS_MAX[type];
  if (most === undefined) return undefined;
  const options = listOf(input.options);
  if (options.length === 0 || options.length > most) return `1 to ${most} options`;
  return first(options, ({ text, value }) =>
    String(value).length > 150 ? 'option value is longer than 150' : between(textOf(text), 1, 75),
  );
}

/** The bounds of what is typed or picked. */
function boundsFault(type: string, input: Json): string | undefined {
  const { min_length: least = 0, max_length: most = 3_000, initial_date_time: seconds } = input;
  if (Number(most) > 3_000 || Number(most) < 1) return 'max_length is 1 to 3000';
  if (Number(least) > Number(most)) return 'min_length is beyond max_length';
  if (seconds !== undefined && !/^\d{10}$/u.test(String(seconds))) return 'initial_date_time has 10 digits';
  return type === 'number_input' ? numbersFault(input) : undefined;
}

/** Numbers are in plain notation, and whole where the input takes no others. */
function numbersFault(input: Json): string | undefined {
  const plain = input.is_decimal_allowed === true ? /^-?\d+(\.\d+)?$/u : /^-?\d+$/u;
  const { min_value: least = '-Infinity', max_value: most = 'Infinity', initial_value: preset } = input;
  for (const name of ['min_value', 'max_value', 'initial_value']) {
    const text = input[name];
    if (text !== undefined && !(typeof text === 'string' && plain.test(text))) return `${name} is no number`;
  }
  if (Number(least) > Number(most)) return 'min_value is beyond max_value';
  return preset !== undefined && (Number(preset) < Number(least) || Number(preset) > Number(most))
    ? 'initial_value is out of bounds'
    : undefined;
}

/** A value that an input begins with must be one that it takes. */
function presetFault({
  initial_value,
  max_length,
  initial_option,
  initial_options,
  options,
}: Json): string | undefined {
  const text = String(initial_value ?? '');
  if (max_length !== undefined && text.length > Number(max_length))
    return 'initial_value is longer than max_length';
  const offered = listOf(options).map((option) => JSON.stringify(option));
  const preset = initial_option === undefined ? listOf(initial_options) : [initial_option];
  return preset.every((option) => offered.includes(JSON.stringify(option)))
    ? undefined
    : 'an initial option that is not offered';
}

function between(text: string, least: number, most: number): string | undefined {
  return text.length < least || text.length > most ? `text has ${least} to ${most} characters` : undefined;
}

function textOf(text: unknown): string {
  return String((text as Json | undefined)?.text ?? '');
}
