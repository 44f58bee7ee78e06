/** A question that another service of the company asks, for the bare page. */
const QUESTION = {
  mode: 'form',
  title: 'Your desk at the new office',
  message: 'We move on Monday.\nWhat shall be on your desk when you come in?',
  context: { agent: 'Acme facilities agent' },
  requestedSchema: {
    type: 'object',
    properties: {
      floor: {
        type: 'string',
        title: 'Floor',
        oneOf: [
          { const: 'ground', title: 'Ground floor, by the garden' },
          { const: 'first', title: 'First floor, quiet' },
        ],
      },
      from: { type: 'string', title: 'First day', format: 'date' },
      screens: { type: 'integer', title: 'Screens', minimum: 0, maximum: 3, default: 1 },
      extras: {
        type: 'array',
        title: 'Also',
        items: { type: 'string', enum: ['lamp', 'footrest', 'plant'] },
        maxItems: 2,
      },
      note: { type: 'string', title: 'Anything else', maxLength: 200 },
    },
    required: ['floor', 'from'],
  },
} as const;

/** Asks the person over the hub API with the service's key, as services do. Returns the question's id. */
export async function askBareQuestion(apiUrl: string, serviceKey: string, userId: string): Promise<string> {
  const response = await fetch(`${apiUrl}/v1/elicitations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${serviceKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...QUESTION, userId }),
    signal: AbortSignal.timeout(10_000),
  });
  if (!response.ok) throw new Error(`The question was refused with ${response.status}.`);
  const { elicitationId } = (await response.json()) as { elicitationId: string };
  return elicitationId;
}
