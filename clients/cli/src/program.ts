import { Command, CommanderError } from 'commander';
import { registerAcp } from './acp/command.ts';
import { registerAnswer } from './commands/answer.ts';
import { registerAsk } from './commands/ask.ts';
import { registerCapacity } from './commands/capacity.ts';
import { registerCompletion } from './commands/completion.ts';
import { registerDev } from './commands/dev.ts';
import { registerDoctor } from './commands/doctor.ts';
import { registerElicit } from './commands/elicit.ts';
import { registerEnv } from './commands/env.ts';
import { registerInbox } from './commands/inbox.ts';
import { registerSecret } from './commands/secret.ts';
import { registerToken } from './commands/token.ts';
import { registerWatch } from './commands/watch.ts';
import { registerWhy } from './commands/why.ts';
import { type CliContext, type RegisterCommand, shownText } from './context.ts';
import { describeFailure, EXIT } from './exit-code.ts';
import { VERSION } from './version.ts';

/** Every command, in the order of the help text. */
const COMMANDS: readonly RegisterCommand[] = [
  registerDev,
  registerAsk,
  registerElicit,
  registerInbox,
  registerAnswer,
  registerWatch,
  registerWhy,
  registerToken,
  registerEnv,
  registerAcp,
  registerSecret,
  registerDoctor,
  registerCapacity,
  registerCompletion,
];

const FOOTER = `
Environment:
  PARLEY_URL     where Parley listens
  PARLEY_TOKEN   a person's token, or a service key
                 (without both: the server that parley dev runs on this machine)
  NO_COLOR       set to anything: no colours

Exit codes: 0 accepted, 1 failed, 2 usage, 3 declined, 4 cancelled, 5 expired, 6 withdrawn,
7 refused by the server, 8 unavailable, 9 left open, 130 interrupted.`;

/** The program with all its commands. */
function createProgram(context: CliContext): Command {
  const program = new Command(context.calledAs)
    .description('Ask a person and answer from a terminal.')
    .version(VERSION)
    .option('--json', 'print JSON, one value a line')
    .option('--url <url>', 'where Parley listens')
    .option('--token-file <path>', 'read the token from a file, again for every request')
    .addHelpText('after', FOOTER)
    .showHelpAfterError(`(${context.calledAs} --help lists every command)`)
    .configureOutput({
      writeOut: (text) => context.stdout.write(text),
      writeErr: (text) => context.stderr.write(text),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .exitOverride();
  for (const register of COMMANDS) register(program, context);
  return program;
}

/** Runs one command line. Reports a failure on standard error and by the exit code; never rejects. */
export async function runProgram(args: readonly string[], context: CliContext): Promise<void> {
  const program = createProgram(context);
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    // Commander has already written the help, the version or the error.
    if (error instanceof CommanderError) {
      context.setExitCode(error.exitCode === 0 ? EXIT.accepted : EXIT.usage);
      return;
    }
    if (context.signal.aborted) {
      context.setExitCode(EXIT.interrupted);
      return;
    }
    const { exitCode, code, message } = describeFailure(error);
    const text = args.includes('--json')
      ? JSON.stringify({ error: { code, message } })
      : `parley: ${message}`;
    // The message may quote a server or a file, so it is made safe for a terminal.
    context.stderr.write(`${shownText(text)}\n`);
    context.setExitCode(exitCode);
  }
}
