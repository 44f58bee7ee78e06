import { query } from '@anthropic-ai/claude-agent-sdk';
import { createClient } from '@parley/sdk';
import { createPermission } from './permission.ts';

const { PARLEY_URL = 'http://localhost:3000', PARLEY_TOKEN = '', APPROVER = 'me' } = process.env;
const [prompt = 'Write a greeting into hello.txt.'] = process.argv.slice(2);

const client = createClient({ baseUrl: PARLEY_URL, token: PARLEY_TOKEN });
const messages = query({
  prompt,
  options: {
    canUseTool: createPermission(client, APPROVER),
    permissionMode: 'default',
    // Settings on this machine could allow calls without asking.
    settingSources: [],
  },
});

for await (const message of messages) {
  if (message.type !== 'result') continue;
  console.log(message.subtype === 'success' ? message.result : `The agent ended: ${message.subtype}.`);
}
