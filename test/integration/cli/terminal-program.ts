/** The workflow of twenty questions and a secret, asked in the terminal of this process. Its result goes to a file. */
import { writeFileSync } from 'node:fs';
import { createTerminalHandler } from '../../../clients/cli/src/terminal.ts';
import { createElicitor } from '../../../clients/sdk/src/elicit.ts';
import { runWorkflow } from '../../../clients/sdk/src/workflow.ts';
import { SECRET } from '../../harness/cli/kinds.ts';
import { twenty } from './twenty.ts';

const [file = '', ...flags] = process.argv.slice(2);

async function main(): Promise<void> {
  const elicitor = createElicitor({
    handlers: [createTerminalHandler({ plain: flags.includes('--plain') })],
  });
  const keys: string[] = [];
  const answers = flags.includes('--secret-only')
    ? []
    : await runWorkflow(() => twenty((key) => keys.push(key)), { elicitor });
  const secret = await elicitor.ask(SECRET);
  const length = secret.status === 'accepted' ? secret.value.reveal().length : 0;
  // As a program would log it.
  console.log(JSON.stringify({ secret }));
  writeFileSync(file, JSON.stringify({ answers, effects: keys.length, secretLength: length }));
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
