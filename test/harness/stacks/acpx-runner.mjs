/**
 * Runs one turn of an ACP agent with the runtime of acpx. The argument is JSON: {command, cwd, stateDir, text, content}. Prints
 * what is asked and how the turn ended, a line of JSON each; a question is answered with `content` once a line comes in.
 */
import { createInterface } from 'node:readline';
import { createAcpRuntime, createAgentRegistry, createFileSessionStore } from 'acpx/runtime';

const { command, cwd, stateDir, text, content } = JSON.parse(process.argv[2]);
const print = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

const runtime = createAcpRuntime({
  cwd,
  agentProcessEnv: { ...process.env },
  sessionStore: createFileSessionStore({ stateDir }),
  agentRegistry: createAgentRegistry({ overrides: { parley: command } }),
  permissionMode: 'deny-all',
  elicitationModes: ['form', 'url'],
});
const handle = await runtime.ensureSession({ sessionKey: 'one', agent: 'parley', mode: 'oneshot', cwd });
const turn = runtime.startTurn({
  handle,
  text,
  mode: 'prompt',
  requestId: 'turn',
  async onElicitation(request) {
    print({ asked: request });
    await lines.next();
    return { action: 'accept', content };
  },
});
let said = '';
for await (const event of turn.events) if (event.type === 'text_delta') said += event.text;
print({ said, result: await turn.result });
await runtime.shutdown?.();
process.exit(0);
