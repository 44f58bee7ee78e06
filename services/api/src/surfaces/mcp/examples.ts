import { SAMPLE_ELICITATION, sampleEvents } from '../../http/docs/samples.ts';

const CALL = {
  jsonrpc: '2.0',
  id: 3,
  method: 'tools/call',
  params: { name: 'travel', arguments: { message: 'Book my flight.' } },
};
const { elicitationId, message, requestedSchema } = SAMPLE_ELICITATION;
const RESULT = {
  jsonrpc: '2.0',
  id: 3,
  result: { content: [{ type: 'text', text: 'A window seat it is.' }] },
};
const EVENTS = sampleEvents(
  [
    undefined,
    '1768469400000000-4/eyJpZCI6M30',
    {
      jsonrpc: '2.0',
      id: elicitationId,
      method: 'elicitation/create',
      params: { mode: 'form', message, requestedSchema },
    },
  ],
  [undefined, '1768469400000000-8/eyJpZCI6M30', RESULT],
);

export const CALL_EXAMPLE = { body: CALL, reply: EVENTS };
export const STREAM_EXAMPLE = { reply: EVENTS };
export const METADATA_EXAMPLE = {
  reply: {
    resource: 'https://parley.example.com/run/v1/mcp',
    authorization_servers: ['https://login.example.com'],
    bearer_methods_supported: ['header'],
    resource_name: 'Parley',
  },
};
