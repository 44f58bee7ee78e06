import {
  acceptedContent,
  type GetPromptResult,
  inputRequired,
  ResourceNotFoundError,
  type Server,
} from '@modelcontextprotocol/server';

/** The prompts, resources and completions that the scenarios of the kit read. Names and texts are those that the kit asks for. */

export const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';

export const CONTENT_CAPABILITIES = { prompts: {}, resources: { subscribe: true }, completions: {} };

type Content = GetPromptResult['messages'][number]['content'];

interface FixturePrompt {
  readonly arguments?: readonly string[];
  readonly messages: (args: Readonly<Record<string, string>>) => readonly Content[];
}

const PROMPTS: Readonly<Record<string, FixturePrompt>> = {
  test_simple_prompt: {
    messages: () => [{ type: 'text', text: 'This is a simple prompt for testing.' }],
  },
  test_prompt_with_arguments: {
    arguments: ['arg1', 'arg2'],
    messages: ({ arg1, arg2 }) => [
      { type: 'text', text: `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'` },
    ],
  },
  test_prompt_with_embedded_resource: {
    arguments: ['resourceUri'],
    messages: ({ resourceUri = '' }) => [
      {
        type: 'resource',
        resource: {
          uri: resourceUri,
          mimeType: 'text/plain',
          text: 'Embedded resource content for testing.',
        },
      },
      { type: 'text', text: 'Please process the embedded resource above.' },
    ],
  },
  test_prompt_with_image: {
    messages: () => [
      { type: 'image', data: PIXEL, mimeType: 'image/png' },
      { type: 'text', text: 'Please analyze the image above.' },
    ],
  },
};

/** A prompt that asks the person first. */
const ASKING_PROMPT = 'test_input_required_result_prompt';
const CONTEXT_QUESTION = {
  message: 'What context should the prompt use?',
  requestedSchema: {
    type: 'object' as const,
    properties: { context: { type: 'string' as const } },
    required: ['context'],
  },
};

const RESOURCES = [
  { uri: 'test://static-text', name: 'Static text', mimeType: 'text/plain' },
  { uri: 'test://static-binary', name: 'Static binary', mimeType: 'image/png' },
  { uri: 'test://watched-resource', name: 'Watched', mimeType: 'text/plain' },
];
const TEMPLATE = /^test:\/\/template\/([^/]+)\/data$/;

function contentsOf(uri: string) {
  const [, id] = TEMPLATE.exec(uri) ?? [];
  if (id !== undefined) {
    const text = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
    return { uri, mimeType: 'application/json', text };
  }
  const known = RESOURCES.find((one) => one.uri === uri);
  if (known === undefined) throw new ResourceNotFoundError(uri);
  const { mimeType } = known;
  return mimeType === 'image/png'
    ? { uri, mimeType, blob: PIXEL }
    : { uri, mimeType, text: 'This is the content of the static text resource.' };
}

export function registerFixtureContent(server: Server): void {
  server.setRequestHandler('prompts/list', () => ({
    prompts: [
      { name: ASKING_PROMPT, description: 'Asks first.' },
      ...Object.entries(PROMPTS).map(([name, { arguments: names = [] }]) => ({
        name,
        description: `The prompt ${name}.`,
        arguments: names.map((one) => ({ name: one, required: true })),
      })),
    ],
  }));
  server.setRequestHandler('prompts/get', ({ params: { name, arguments: args = {} } }, { mcpReq }) => {
    if (name === ASKING_PROMPT) {
      const said = acceptedContent<{ context: string }>(mcpReq.inputResponses, 'user_context');
      return said === undefined
        ? inputRequired({ inputRequests: { user_context: inputRequired.elicit(CONTEXT_QUESTION) } })
        : { messages: [{ role: 'user', content: { type: 'text', text: said.context } }] };
    }
    const prompt = PROMPTS[name];
    if (prompt === undefined) throw new Error(`There is no prompt ${name}.`);
    return { messages: prompt.messages(args).map((content) => ({ role: 'user', content })) };
  });
  server.setRequestHandler('resources/list', () => ({ resources: RESOURCES }));
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [{ uriTemplate: 'test://template/{id}/data', name: 'Data of an id' }],
  }));
  server.setRequestHandler('resources/read', ({ params }) => ({ contents: [contentsOf(params.uri)] }));
  // In 2025-11-25. The resources of this server never change.
  for (const method of ['resources/subscribe', 'resources/unsubscribe'] as const)
    server.setRequestHandler(method, () => ({}));
  server.setRequestHandler('completion/complete', ({ params: { argument } }) => ({
    completion: { values: [`${argument.value}ing`, `${argument.value}ed`], hasMore: false },
  }));
}
