import { controlsOf } from '@parley/core/domain/forms/controls';
import type { FormField } from '@parley/core/domain/forms/value';
import { initialValues, type ShownField } from '../../../services/api/src/pages/views/answer/controls.ts';
import type { PageView } from '../../../services/api/src/pages/views/view.ts';

const FAILURES = [
  'consent_refused',
  'provider_error',
  'bad_state',
  'bad_issuer',
  'rejected_key',
  'unavailable',
  'sign-in',
] as const;

const ID = 'el_1f3kq7w2m9t8xv5b4n6c0z';
const proceed = { action: `/auth/connect/${ID}/start`, csrf: 'proceed-token' };
const decline = { action: `/auth/connect/${ID}/decline`, csrf: 'decline-token' };
const signIn = { action: `/auth/connect/${ID}/sign-in`, csrf: 'sign-in-token' };
const enter = { action: `/auth/answer/${ID}/open`, csrf: 'open-token' };
const signOut = { action: '/auth/accounts/sign-out', csrf: 'sign-out-token' };
const retry = `/auth/connect/${ID}`;
const requestId = 'req_7Qk2mZr9';

const asking = {
  agent: 'Release assistant',
  service: 'Issue tracker',
  message: 'To file the bug for you I need access to your issue tracker.',
};
const consent = {
  page: 'consent',
  asking,
  person: 'ada@example.com',
  origin: 'https://issues.example.com',
  scopes: ['issues:read', 'issues:write', 'offline_access'],
  proceed,
  decline,
} as const;
const secret = {
  page: 'secret',
  asking,
  person: 'ada@example.com',
  field: { label: 'API key', help: 'You find it under Settings, API keys.', lengthMax: 200 },
  proceed,
  decline,
} as const;
const approve = { action: '/auth/answer/ap_x/approve', csrf: 'approve-token' };
const deny = { action: '/auth/answer/ap_x/deny', csrf: 'deny-token' };
const bareApproval = {
  page: 'approval',
  agent: 'Travel desk',
  tool: { server: 'bookings', name: 'bookings_cancel', title: 'bookings_cancel' },
  arguments: {},
  masked: [],
  person: 'ada@example.com',
  leftMs: 50_000,
  approve,
  deny,
} as const;
const approval = {
  ...bareApproval,
  tool: {
    server: 'Bookings',
    name: 'bookings_cancel',
    title: 'Cancel a booking',
    hints: { destructive: true, openWorld: true },
  },
  arguments: {
    booking: 'B-1',
    apiKey: '••••••',
    refund: 120.5,
    passengers: [
      { name: 'Ada', seat: '12A' },
      { name: 'Grace', seat: null },
    ],
    message: 'The customer has asked for this in writing.\n'.repeat(12),
  },
  masked: ['/apiKey'],
  remember: { days: 7 },
  canEdit: true,
  leftMs: 3 * 60 * 60_000,
} as const;
const long = {
  agent: 'The release assistant of the department for very long names and their abbreviations',
  service: 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft',
  message: `${'I need this because the release notes must name every ticket.\n'.repeat(20)}${'unbroken'.repeat(40)}`,
};

/** A sample of every page and of what else it can show, by a name for each. */
export const SAMPLES: Readonly<Record<string, PageView>> = {
  'sign-in': { page: 'sign-in', signIn, organisation: 'Example Corporation' },
  'dev-sign-in': { page: 'dev-sign-in', signIn },
  'link-sign-in': { page: 'sign-in', signIn, organisation: 'Example Corporation', leadsTo: 'link' },
  'link-dev-sign-in': { page: 'dev-sign-in', signIn, leadsTo: 'link' },
  link: {
    page: 'link',
    service: 'Slack',
    account: 'U024BE7LH, Example Corporation',
    person: 'ada@example.com',
    proceed,
    signOut,
  },
  'link-long': {
    page: 'link',
    service: 'Slack',
    account: `U024BE7LH, ${long.service}`,
    person: `${'ada.lovelace.'.repeat(8)}@example.com`,
    proceed,
    signOut,
  },
  linked: { page: 'linked', service: 'Slack' },
  'link-other': { page: 'link-other', service: 'Slack' },
  'link-spent': { page: 'link-spent' },
  'inbox-sign-in': { page: 'sign-in', signIn, organisation: 'Example Corporation', leadsTo: 'inbox' },
  'inbox-dev-sign-in': { page: 'dev-sign-in', signIn, leadsTo: 'inbox' },
  'console-sign-in': { page: 'sign-in', signIn, organisation: 'Example Corporation', leadsTo: 'console' },
  'console-dev-sign-in': { page: 'dev-sign-in', signIn, leadsTo: 'console' },
  'no-role': { page: 'no-role', person: 'ada@example.com', signIn },
  'inbox-elsewhere': { page: 'inbox-elsewhere' },
  'inbox-empty': {
    page: 'inbox',
    person: 'ada@example.com',
    waiting: [],
    remembered: [],
    accounts: [],
    signOut,
  },
  group: {
    page: 'group',
    path: '/auth/inbox/groups/g',
    agent: 'Travel desk',
    tool: {
      server: 'Bookings',
      name: 'bookings_cancel',
      title: 'Cancel a booking',
      hints: { destructive: true },
    },
    person: 'ada@example.com',
    risk: 'low',
    same: { refund: true, notify: '' },
    calls: [
      { id: 'ap_a', arguments: { booking: 'B-1', apiKey: '••••••' }, masked: ['/apiKey'] },
      { id: 'ap_b', arguments: { booking: 'B-2', apiKey: '••••••' }, masked: ['/apiKey'] },
    ],
    leftMs: 90_000,
    decide: { action: '/auth/inbox/groups/g/approve', csrf: 'group-token' },
    denyPath: '/auth/inbox/groups/g/deny',
  },
  'group-long': {
    page: 'group',
    path: '/auth/inbox/groups/g',
    agent: long.agent,
    tool: { server: long.service, name: 'x'.repeat(64), title: long.service },
    person: `${'ada.lovelace.'.repeat(8)}@example.com`,
    risk: 'medium',
    same: {},
    calls: [
      { id: 'ap_a', arguments: { note: long.message }, masked: [] },
      { id: 'ap_b', arguments: {}, masked: [] },
    ],
    hasMore: true,
    leftMs: 3 * 60 * 60_000,
    fault: 'none-chosen',
    decide: { action: '/auth/inbox/groups/g/approve', csrf: 'group-token' },
    denyPath: '/auth/inbox/groups/g/deny',
  },
  'group-partly': { page: 'group-partly', recorded: 12, chosen: 50 },
  inbox: {
    page: 'inbox',
    person: 'ada@example.com',
    waiting: [
      {
        about: 'approval',
        key: 'item-1',
        agent: 'Travel desk',
        tool: 'Cancel a booking',
        server: 'Bookings',
        risk: 'high',
        leftMs: 90_000,
        path: '/auth/answer/ap_x',
      },
      {
        about: 'approval',
        key: 'item-2',
        agent: 'Travel desk',
        tool: 'Move a booking',
        server: 'Bookings',
        risk: 'low',
        count: 20,
        leftMs: 90_000,
        path: '/auth/inbox/groups/g',
      },
      {
        about: 'question',
        key: 'item-3',
        agent: 'Travel desk',
        title: 'Your seat',
        message: 'Which seat do you want on flight 12?',
        leftMs: 3 * 60 * 60_000,
        path: `/auth/answer/${ID}`,
      },
      {
        about: 'question',
        key: 'item-9',
        ...long,
        leftMs: 3 * 24 * 60 * 60_000,
        path: `/auth/connect/${ID}`,
      },
    ],
    hasOlder: true,
    remembered: [
      {
        agent: 'Travel desk',
        tool: 'Cancel a booking',
        server: 'Bookings',
        until: Date.UTC(2026, 0, 15),
        forget: { action: '/auth/inbox/remembered/a/forget', csrf: 'forget-token' },
      },
      {
        agent: long.agent,
        tool: 'bookings_cancel_all_of_a_very_long_name_without_any_blank_in_it',
        server: long.service,
        forget: { action: '/auth/inbox/remembered/b/forget', csrf: 'forget-token' },
      },
    ],
    accounts: [
      {
        service: 'Issue tracker',
        state: 'connected',
        savedAt: Date.UTC(2026, 0, 15),
        scopes: ['issues:read'],
        renews: true,
        disconnect: '/auth/accounts/issues/disconnect',
      },
    ],
    signOut,
  },
  accounts: {
    page: 'accounts',
    person: 'ada@example.com',
    accounts: [
      {
        service: 'Issue tracker',
        state: 'connected',
        savedAt: Date.UTC(2026, 0, 15),
        scopes: ['issues:read', 'issues:write', 'offline_access'],
        renews: true,
        disconnect: '/auth/accounts/tracker/disconnect',
      },
      {
        service: long.service,
        state: 'reconnect_required',
        savedAt: Date.UTC(2025, 10, 3),
        scopes: [],
        renews: false,
        disconnect: '/auth/accounts/long/disconnect',
      },
      {
        service: 'Wiki',
        state: 'connected',
        savedAt: Date.UTC(2026, 1, 2),
        scopes: ['pages:read'],
        managed: true,
        disconnect: '/auth/accounts/wiki/disconnect',
      },
      { service: 'Notes', state: 'connected', scopes: [], disconnect: '/auth/accounts/notes/disconnect' },
    ],
    signOut,
  },
  'accounts-none': { page: 'accounts', person: 'ada@example.com', accounts: [], signOut },
  'accounts-sign-in': { page: 'sign-in', signIn, organisation: 'Example Corporation', leadsTo: 'accounts' },
  disconnect: {
    page: 'disconnect',
    service: 'Issue tracker',
    person: 'ada@example.com',
    proceed: { action: '/auth/accounts/tracker/disconnect', csrf: 'disconnect-token' },
  },
  disconnected: {
    page: 'disconnected',
    service: 'Issue tracker',
    revoked: 'revoked',
  },
  'disconnected-unsupported': {
    page: 'disconnected',
    service: 'Issue tracker',
    revoked: 'unsupported',
  },
  'disconnected-unavailable': {
    page: 'disconnected',
    service: long.service,
    revoked: 'unavailable',
  },
  'disconnected-before': { page: 'disconnected', service: 'Issue tracker' },
  'accounts-elsewhere': { page: 'accounts-elsewhere' },
  consent,
  'consent-unknown': {
    page: 'consent',
    asking: { ...asking, message: '' },
    scopes: [],
    proceed,
    decline,
  },
  'consent-unnamed': { ...consent, asking: { service: asking.service, message: asking.message } },
  'consent-long': {
    ...consent,
    asking: long,
    person: 'a.person.with.a.long.name@department.of.long.names.example.com',
    origin: 'https://sign-in.department-of-very-long-host-names.identity.internal.xn--exmple-cua.com:8443',
    scopes: Array.from({ length: 12 }, (_, index) => `https://www.example.com/auth/scope-${index}.readonly`),
  },
  secret,
  'secret-empty': { ...secret, fault: 'empty' },
  'secret-rejected': { ...secret, fault: 'rejected' },
  'secret-unavailable': { ...secret, fault: 'unavailable' },
  'secret-once': {
    page: 'secret',
    asking: { ...asking, message: 'Please give me the password of the staging database.' },
    field: { label: 'Staging password', lengthMax: 1_000 },
    onceFor: 'run_migration',
    proceed,
    decline,
  },
  continue: {
    page: 'continue',
    url: 'https://issues.example.com/authorize?client_id=parley&state=abc&scope=issues%3Aread',
    origin: 'https://issues.example.com',
  },
  'answer-entry': { page: 'answer-entry', enter },
  'answer-entry-approval': { page: 'answer-entry', enter, about: 'approval' },
  'answer-entry-sign-in': { page: 'answer-entry', enter, signInPath: `/auth/answer/${ID}?sign-in` },
  'answer-sign-in': { page: 'sign-in', signIn, organisation: 'Example Corporation', leadsTo: 'answer' },
  'answer-mismatch': { page: 'mismatch', about: 'answer', signOut },
  answered: { page: 'answer-ended', ended: 'answered', toInbox: true },
  'answer-declined': { page: 'answer-ended', ended: 'declined' },
  'answer-expired': { page: 'answer-ended', ended: 'expired', late: true },
  'answer-settled': { page: 'answer-ended', ended: 'settled', late: true },
  'answer-approval-sign-in': {
    page: 'sign-in',
    signIn,
    organisation: 'Example Corporation',
    leadsTo: 'approval',
  },
  'answer-approval': approval,
  'answer-approval-faulty': { ...approval, reason: 'Because\nnot.' },
  'answer-approval-bare': bareApproval,
  ...Object.fromEntries(
    (['approved', 'edited', 'denied', 'expired', 'withdrawn'] as const).map(
      (ended) => [`answer-approval-${ended}`, { page: 'approval-ended', ended }] as const,
    ),
  ),
  'answer-approval-late': { page: 'approval-ended', ended: 'approved', late: true },
  'not-found-sign-out': { page: 'not-found', signOut },
  'answer-spent': { page: 'answer-spent' },
  waiting: { page: 'waiting', again: `/auth/connect/${ID}/wait` },
  done: {
    page: 'done',
    service: 'Issue tracker',
    elicitationId: ID,
    tell: ['https://chat.example.com', 'http://localhost:3000'],
  },
  'done-accounts': { page: 'done', service: 'Issue tracker', hasAccountsPage: true },
  'done-bare': { page: 'done' },
  'done-kept': { page: 'done', service: 'Issue tracker', kept: true },
  'done-kept-bare': { page: 'done', kept: true },
  'done-withheld': {
    page: 'done',
    service: 'Issue tracker',
    withheldScopes: ['issues:write', 'offline_access'],
  },
  declined: { page: 'declined' },
  expired: { page: 'expired' },
  settled: { page: 'settled' },
  mismatch: { page: 'mismatch' },
  'mismatch-sign-out': { page: 'mismatch', signOut: signIn },
  'not-found': { page: 'not-found' },
  ...Object.fromEntries(
    FAILURES.map((reason) => [`failed-${reason}`, { page: 'failed', reason, retry, requestId } as const]),
  ),
  'failed-bare': { page: 'failed', reason: 'provider_error', providerError: 'server_error', requestId },
  refused: { page: 'refused' },
  'refused-retry': { page: 'refused', retry },
  'too-many': { page: 'too-many', retryAfterSeconds: 10 },
  unavailable: { page: 'unavailable', requestId },
};

type AnswerView = Extract<PageView, { page: 'answer' }>;

/** One field of each kind, titled and untitled, required and not. */
const FIELDS: Readonly<Record<string, FormField>> = {
  name: {
    type: 'string',
    title: 'Full name',
    description: 'As in your passport.',
    minLength: 2,
    maxLength: 80,
  },
  story: { type: 'string', maxLength: 2_000, default: 'First line\nSecond line' },
  mail: { type: 'string', format: 'email', title: 'Email address' },
  site: { type: 'string', format: 'uri' },
  day: { type: 'string', format: 'date', default: '2026-03-01' },
  when: { type: 'string', format: 'date-time' },
  bags: { type: 'integer', title: 'Bags', minimum: 0, maximum: 3, default: 1 },
  weight: { type: 'number', minimum: 0.5 },
  insured: { type: 'boolean', title: 'Travel insurance' },
  seat: {
    type: 'string',
    title: 'Seat',
    enum: ['window', 'aisle'],
    enumNames: ['Window seat', 'Aisle seat'],
  },
  country: {
    type: 'string',
    oneOf: Array.from({ length: 12 }, (_, at) => ({ const: `c${at}`, title: `Country number ${at}` })),
    default: 'c3',
  },
  meals: {
    type: 'array',
    title: 'Meals',
    items: { type: 'string', enum: ['vegan', 'halal', 'none'] },
    minItems: 1,
    maxItems: 2,
  },
};

const required = Object.keys(FIELDS).filter((_, at) => at % 2 === 0);
const fields: ShownField[] = controlsOf({ properties: FIELDS, required }).map((control, at) => ({
  at,
  control,
  values: initialValues(control),
}));
const answerForm: AnswerView = {
  page: 'answer',
  asking: { agent: 'Travel assistant', message: 'Which flight suits you?' },
  title: 'Your trip to Lisbon',
  description: 'The booking is made as soon as you answer.',
  fields,
  leftMs: 3 * 60 * 60_000,
  proceed: { action: `/auth/answer/${ID}/accept`, csrf: 'accept-token' },
  decline: { action: `/auth/answer/${ID}/decline`, csrf: 'decline-token' },
};
const { title: _title, description: _description, ...plainAnswer } = answerForm;

/** The page of a question: with every kind of field, with faults, short, and with an address. */
export const ANSWER_SAMPLES: Readonly<Record<string, AnswerView>> = {
  'answer-form': answerForm,
  'answer-faulty': {
    ...answerForm,
    fields: fields.map((field) => ({
      ...field,
      values: field.control.name === 'day' ? field.values : ['1'],
      fault: { rule: 'required' },
    })),
  },
  'answer-short': { ...plainAnswer, asking: { message: 'May I book it?' }, fields: fields.slice(8, 9) },
  'answer-owner': { ...answerForm, person: 'ada@example.com', fields: fields.slice(6, 10) },
  'answer-address': { ...plainAnswer, fields: [], origin: 'https://pay.example.com', leftMs: 50_000 },
};

/** The view with `text` in every place that text from outside can reach. */
export function filledAnswer(view: AnswerView, text: string): AnswerView {
  const filled = (schema: FormField): FormField => ({ ...schema, title: text, description: text });
  const choices = (schema: FormField): FormField => {
    if (schema.type === 'array') return { ...schema, items: { type: 'string', enum: [text, text, text] } };
    if ('enum' in schema) return { ...schema, enum: [text, text], enumNames: [text, text] };
    return 'oneOf' in schema
      ? { ...schema, oneOf: schema.oneOf.map(() => ({ const: text, title: text })) }
      : schema;
  };
  const isTyped = ({ type, ...schema }: FormField) =>
    type === 'string' && !('enum' in schema || 'oneOf' in schema);
  return {
    ...view,
    asking: { agent: text, message: text },
    title: text,
    description: text,
    ...(view.person !== undefined && { person: text }),
    fields: view.fields.map((field) => {
      const { schema, isRequired } = field.control;
      const properties = { [text]: choices(filled(schema)) };
      const [control = field.control] = controlsOf({ properties, required: isRequired ? [text] : [] });
      return { ...field, control, values: isTyped(schema) ? [text] : field.values };
    }),
  };
}
