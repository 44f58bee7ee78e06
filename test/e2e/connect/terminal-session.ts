/**
 * A program with a chat, in the terminal of this process: it asks for a secret, hands it to a tool by value and to
 * everything else by the box that it came in, as a program that logs and talks too much would.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { streamText } from 'ai';
import { createTerminalHandler } from '../../../clients/cli/src/terminal.ts';
import { createParleyProvider } from '../../../clients/sdk/src/ai-provider.ts';
import { createElicitor, createParleyHandler } from '../../../clients/sdk/src/elicit.ts';
import { createClient } from '../../../clients/sdk/src/index.ts';

/** What the program reads from `session.json` in its folder. */
export interface SessionSettings {
  readonly baseUrl: string;
  readonly userId: string;
  readonly userToken: string;
  readonly serviceKey: string;
}

const [folder = ''] = process.argv.slice(2);

async function main(): Promise<void> {
  const settings = JSON.parse(readFileSync(join(folder, 'session.json'), 'utf8')) as SessionSettings;
  const { baseUrl, userId, userToken, serviceKey } = settings;
  const client = createClient({ baseUrl, token: serviceKey });
  const elicitor = createElicitor({
    handlers: [createParleyHandler({ client, userId }), createTerminalHandler()],
  });
  const secret = await elicitor.ask({ kind: 'secret', message: 'The password of the archive?' });
  if (secret.status !== 'accepted') throw new Error(`The secret is ${secret.status}.`);
  const prompt = `echo I typed ${secret.value}`;
  const parley = createParleyProvider({ baseUrl, token: userToken });
  const reply = await streamText({ model: parley('helper'), prompt }).text;
  const transcript = [
    { role: 'user', content: prompt, secret },
    { role: 'assistant', content: reply },
  ];
  console.log('transcript', JSON.stringify(transcript));
  writeFileSync(join(folder, 'transcript.json'), JSON.stringify(transcript));
  // The tool.
  console.log(`unlocked with ${secret.value.reveal().length} characters`);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
