import { z } from 'zod';
import { CARD_URI } from '../card.ts';

const IDS_MAX = 20;
const Id = z.string().min(1).max(128);

/** Identifies the card's call in the host's terms: the tool and the arguments. */
const NamedCall = {
  tool: z.string().min(1).max(256).describe('The tool of the call.'),
  arguments: z.record(z.string(), z.unknown()).default({}).describe('The arguments of the call.'),
};

export const WaitingInput = z.strictObject({
  ...NamedCall,
  shown: z.array(Id).max(IDS_MAX).default([]).describe('Questions that the card shows, open or ended.'),
});
export type WaitingInput = z.infer<typeof WaitingInput>;

export const CardAnswerInput = z.strictObject({
  ...NamedCall,
  id: Id.describe('What is answered.'),
  response: z.record(z.string(), z.unknown()).describe('As the body of a response of `/v1`.'),
});
export type CardAnswerInput = z.infer<typeof CardAnswerInput>;

export const WAITING_TOOL = 'parley_waiting';
const ANSWER_TOOL = 'parley_answer';

/** The tools that only the card may call. Its host hides them from its model. */
export const CARD_TOOLS = [
  {
    name: WAITING_TOOL,
    description: 'What a call waits for. For the card alone.',
    inputSchema: schemaOf(WaitingInput),
    annotations: { readOnlyHint: true, openWorldHint: false },
    _meta: { ui: { resourceUri: CARD_URI, visibility: ['app'] } },
  },
  {
    name: ANSWER_TOOL,
    description: 'Records what the user answered in the card. For the card alone.',
    inputSchema: schemaOf(CardAnswerInput),
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    _meta: { ui: { resourceUri: CARD_URI, visibility: ['app'] } },
  },
] as const;

const NAMES: ReadonlySet<unknown> = new Set(CARD_TOOLS.map(({ name }) => name));

export function isCardTool(name: unknown): boolean {
  return NAMES.has(name);
}

function schemaOf(schema: z.ZodType) {
  const { $schema: _draft, ...rest }: Readonly<Record<string, unknown>> = z.toJSONSchema(schema, {
    io: 'input',
  });
  return { ...rest, type: 'object' as const };
}
