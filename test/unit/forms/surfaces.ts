/** What each surface with a pure renderer shows of the odd form, by the name of the field. */
import type { CreateElicitationRequest } from '@agentclientprotocol/sdk';
import type { FormSchema } from '@parley/core/domain/forms/schema';
import { readable } from '@parley/core/domain/readable';
import type { InputBlock, ModalView } from '@slack/types';
import { createRequest } from '../../../clients/cli/src/acp/elicitation.ts';
import { createChoice, createMultiChoice } from '../../../clients/cli/src/terminal/choice.ts';
import { createEntry } from '../../../clients/cli/src/terminal/entry.ts';
import { askFields, type TerminalContent } from '../../../clients/cli/src/terminal/fields.ts';
import {
  LEFT,
  type Left,
  type OpenPrompt,
  type Screen,
  type ScreenOption,
} from '../../../clients/cli/src/terminal/screen.ts';
import { questionHandlers } from '../../../services/api/src/pages/answer/question.ts';
import { renderPage } from '../../../services/api/src/pages/views/page.ts';
import type { PageView } from '../../../services/api/src/pages/views/view.ts';
import type { FormState, InputState } from '../../../services/api/src/surfaces/slack/mapping/answer.ts';
import { formModal } from '../../../services/api/src/surfaces/slack/mapping/modal.ts';
import { ODD_FORM, ODD_NAMES, oddField, type SeenControl } from '../../harness/forms/odd-forms.ts';
import { ASKED_AT, questionRow } from '../../harness/slack/rows.ts';

/** A field on one surface. Absent is what the surface leaves to its client. */
export interface Sighting extends Omit<SeenControl, 'description' | 'hasLines'> {
  readonly hasLines?: boolean;
  /** Every text about it but its label. */
  readonly hint?: string;
}

function byName(list: readonly Sighting[]): ReadonlyMap<string, Sighting> {
  // The words of a yes or no are the surface's own.
  const isYesNo = (name: string) => oddField(name).field.type === 'boolean';
  const seen = list.map((one, at) => ({
    ...one,
    ...(isYesNo(ODD_NAMES[at] ?? '') && { choices: [] }),
    // A page shows signs that cannot be seen.
    initial: one.initial.filter((text) => text !== '').map(readable),
  }));
  return new Map(seen.map((one, at) => [ODD_NAMES[at] ?? '', one]));
}

/** The answer page, by its markup. */
export function onAnswerPage(): ReadonlyMap<string, Sighting> {
  const row = questionRow({ requestedSchema: ODD_FORM });
  const entrance = { surface: 'answer-page', find: () => Promise.reject(), pathOf: () => '/auth/answer/one' };
  const visit = { browser: { id: 'one', isNew: false } } as never;
  const reply = questionHandlers(entrance).show(visit, { row, now: ASKED_AT });
  const options = { appName: 'Parley', language: 'en', nonce: 'n'.repeat(22), https: true } as never;
  const { html } = renderPage((reply as unknown as { view: PageView }).view, options);
  const fields = html.split(/<(?:div|fieldset) class="field"/u).slice(1);
  return byName(fields.map((markup) => readMarkup(markup.split('</form>')[0] ?? '')));
}

function readMarkup(markup: string): Sighting {
  const all = (pattern: RegExp) =>
    [...markup.matchAll(pattern)].map(([, ...found]) => decoded(found.join('')));
  const offered = [
    ...markup.matchAll(/<label class="choice"><input([^>]*)> <bdi>(.*?)<\/bdi>/gsu),
    ...markup.matchAll(/<option([^>]*)>(.*?)<\/option>/gsu),
  ].filter(([, attributes]) => !attributes?.includes('value=""'));
  const chosen = offered.filter(([, attributes]) => /checked|selected/u.test(attributes ?? ''));
  const words = (list: typeof offered) => list.map(([, , text]) => decoded(text ?? ''));
  const typed = all(
    /<textarea[^>]*>\n(.*?)<\/textarea>|<input type="(?:text|email|url|date)"[^>]* value="([^"]*)"/gsu,
  );
  return {
    label: all(/<(?:legend|label for="[^"]*")><bdi>(.*?)<\/bdi>/gsu)[0] ?? '',
    isRequired: markup.includes('(required)'),
    choices: words(offered),
    initial: [...typed, ...words(chosen)],
    hasLines: markup.includes('<textarea'),
    hint: all(/<p class="help"[^>]*><bdi>(.*?)<\/bdi>/gsu).join('\n'),
  };
}

const SIGNS: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

function decoded(text: string): string {
  return text.replace(/&([#\w]+);/gu, (_, sign: string) => SIGNS[sign] ?? sign);
}

/** Slack's modal. */
export function inSlack(): ReadonlyMap<string, Sighting> {
  const { blocks } = formModal(questionRow({ requestedSchema: ODD_FORM }));
  return byName(blocks.filter((block): block is InputBlock => block.type === 'input').map(readBlock));
}

type Option = { readonly text: { readonly text: string } };

function readBlock({ label, hint, optional, element }: InputBlock): Sighting {
  const input: Readonly<Record<string, unknown>> = { ...element };
  const options = [input.options ?? []].flat() as unknown as readonly Option[];
  const chosen = [input.initial_option ?? input.initial_options ?? []].flat() as unknown as readonly Option[];
  const typed = input.initial_value ?? input.initial_date ?? input.initial_date_time;
  const words = (list: readonly Option[]) => list.map(({ text }) => text.text);
  return {
    label: label.text,
    isRequired: optional === false,
    choices: words(options),
    initial: typed === undefined ? words(chosen) : [String(typed)],
    hasLines: input.multiline === true,
    hint: hint?.text ?? '',
  };
}

/** What Slack reports of a modal that a person sends as it is. */
export function untouched(blocks: ModalView['blocks']): FormState {
  const inputs = blocks.filter((block): block is InputBlock => block.type === 'input');
  return Object.fromEntries(
    inputs.map(({ block_id = '', element }) => {
      const { action_id, ...input }: Readonly<Record<string, unknown>> = { ...element };
      const state = {
        value: input.initial_value ?? null,
        selected_option: input.initial_option ?? null,
        selected_options: input.initial_options ?? [],
        selected_date: input.initial_date ?? null,
        selected_date_time: input.initial_date_time ?? null,
      };
      return [block_id, { [String(action_id)]: state as InputState }];
    }),
  );
}

/** The prompts of the terminal. */
export async function inTerminal(): Promise<ReadonlyMap<string, Sighting>> {
  const seen: Sighting[] = [];
  const { signal } = new AbortController();
  await askFields(recorder(seen), { schema: ODD_FORM, faults: [], countdown: () => '', signal });
  return byName(seen);
}

function recorder(seen: Sighting[]): Screen {
  const take = (
    { label, description = '' }: { readonly label: string; readonly description?: string | undefined },
    initial: readonly unknown[],
    options: readonly ScreenOption<unknown>[] = [],
    hasLines = false,
  ) => {
    const offered = options.filter(({ value }) => value !== undefined);
    const chosen = offered.filter(({ value }) => initial.includes(value)).map((one) => one.label);
    seen.push({
      label: label.replace(' (optional)', ''),
      isRequired: !label.endsWith(' (optional)'),
      choices: offered.map((one) => one.label),
      initial: options.length > 0 ? chosen : initial.filter((one) => one !== undefined).map(String),
      hasLines,
      hint: description,
    });
  };
  const typed: Screen['text'] = async (prompt) => {
    take(prompt, [prompt.initial], [], prompt.hasLines);
    return '';
  };
  return {
    isLive: false,
    say: () => undefined,
    redraw: () => undefined,
    text: typed,
    hidden: typed,
    select: async (prompt) => {
      take(prompt, [prompt.initial], prompt.options);
      return prompt.options[0]?.value as never;
    },
    multiSelect: async (prompt) => {
      take(prompt, prompt.initial, prompt.options);
      return [];
    },
  };
}

/** What the terminal answers when a person enters each prompt as it is; LEFT where one is not accepted. */
export function enteredUntouched(schema: FormSchema, sensitive: boolean): Promise<TerminalContent | Left> {
  const entered = async <Value>(prompt: OpenPrompt<Value>) =>
    prompt.fault() === undefined ? prompt.value() : LEFT;
  const screen: Screen = {
    isLive: true,
    say: () => undefined,
    redraw: () => undefined,
    text: (prompt) => entered(createEntry(prompt, { isHidden: false, hasEditor: false })),
    hidden: (prompt) => {
      // A person who does not see that something is there is told.
      const isTold = prompt.description?.includes('default') ?? false;
      if (isTold !== Boolean(prompt.initial)) throw new Error(`${prompt.label}: ${prompt.description}`);
      return entered(createEntry(prompt, { isHidden: true, hasEditor: false }));
    },
    select: (prompt) => entered(createChoice(prompt)),
    multiSelect: (prompt) => entered(createMultiChoice(prompt)),
  };
  const { signal } = new AbortController();
  return askFields(screen, { schema, faults: [], sensitive, countdown: () => '', signal });
}

/** The schema that an editor gets, whose own words for a field are its title, else its name. */
export function overAcp(): ReadonlyMap<string, Sighting> {
  const question = { mode: 'form', message: 'Which?', requestedSchema: ODD_FORM } as never;
  const { requestedSchema } = createRequest('one', question) as CreateElicitationRequest & {
    readonly requestedSchema: {
      readonly properties: Record<string, EditorField>;
      readonly required: string[];
    };
  };
  const { properties, required } = requestedSchema;
  return byName(
    Object.entries(properties).map(([name, { title = name, description = '', ...field }]) => {
      const { oneOf, anyOf, enum: values = [] } = field.items ?? field;
      const options = oneOf ?? anyOf ?? values.map((value) => ({ const: value, title: value }));
      const preset = [field.default ?? []].flat();
      const chosen = options.filter((option) => preset.includes(option.const));
      return {
        label: title,
        isRequired: required.includes(name),
        choices: options.map((option) => option.title),
        initial:
          options.length > 0
            ? chosen.map((one) => one.title)
            : preset.map((one) => (one === true ? 'Yes' : String(one))),
        hint: description,
      };
    }),
  );
}

interface EditorField {
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly items?: EditorField;
  readonly enum?: readonly string[];
  readonly oneOf?: readonly { readonly const: string; readonly title: string }[];
  readonly anyOf?: readonly { readonly const: string; readonly title: string }[];
}
