import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { RunState, type RunToolApprovalItem, run, setOpenAIAPI } from '@openai/agents';
import { createClient } from '@parley/sdk';
import { createElicitor, createParleyHandler } from '@parley/sdk/elicit';
import { agent } from './agent.ts';

const { PARLEY_URL = 'http://localhost:3000', PARLEY_TOKEN = '', APPROVER = 'me' } = process.env;
const [prompt = 'Order A-17 came broken. I want my 40 euros back.'] = process.argv.slice(2);
const STATE_FILE = 'run-state.json';

// This API is the one that servers other than OpenAI's support.
if (process.env.OPENAI_BASE_URL !== undefined) setOpenAIAPI('chat_completions');

const client = createClient({ baseUrl: PARLEY_URL, token: PARLEY_TOKEN });
const elicitor = createElicitor({ handlers: [createParleyHandler({ client, userId: APPROVER })] });

// A killed process may have left a run that waits for a person.
const input = existsSync(STATE_FILE)
  ? await RunState.fromString(agent, readFileSync(STATE_FILE, 'utf8'))
  : prompt;
let result = await run(agent, input);

while (result.interruptions.length > 0) {
  const { state, interruptions } = result;
  save(state.toString());
  await Promise.all(
    interruptions.map(async (call) => ((await isApproved(call)) ? state.approve(call) : state.reject(call))),
  );
  result = await run(agent, state);
}
rmSync(STATE_FILE, { force: true });
console.log(result.finalOutput);

/** Asks a person whether a call may be made. Every outcome except approval refuses it. */
async function isApproved(call: RunToolApprovalItem): Promise<boolean> {
  const { rawItem } = call;
  const callId = 'callId' in rawItem ? rawItem.callId : rawItem.id;
  console.log(`Waiting for a decision on the call ${callId}.`);
  const outcome = await elicitor.ask(
    {
      kind: 'approval',
      message: `${agent.name} wants to call a tool.`,
      action: call.name ?? 'a tool',
      details: { arguments: call.arguments ?? '' },
      timeoutSeconds: 3600,
    },
    // After a restart, the same call finds the same question, with its answer if there is one.
    { key: `openai-agents.${callId}` },
  );
  return outcome.status === 'accepted' && outcome.value.decision === 'approved';
}

function save(text: string): void {
  writeFileSync(`${STATE_FILE}.new`, text);
  renameSync(`${STATE_FILE}.new`, STATE_FILE);
}
