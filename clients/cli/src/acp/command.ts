import type { Command } from 'commander';
import { connectionOf } from '../connection.ts';
import type { CliContext } from '../context.ts';

/** `parley acp`: an agent for editors that speak the Agent Client Protocol. */
export function registerAcp(program: Command, context: CliContext): void {
  const command = program
    .command('acp')
    .description('serve an editor over the Agent Client Protocol, on standard input and output')
    .option('--agent <id>', "the agent to talk with (default: the server's default agent)")
    .action(async ({ agent }: { readonly agent?: string }) => {
      const connection = connectionOf(command, context, 'person');
      const { stdin, stdout, stderr, signal } = context;
      // The module is loaded here, so that other commands start faster.
      const { serveAcp } = await import('./serve.ts');
      const options = {
        ...connection,
        version: program.version() ?? '',
        log: (line: string) => void stderr.write(`parley acp: ${line}\n`),
        ...(agent !== undefined && { agent }),
      };
      await serveAcp(options, { stdin, stdout, signal });
    });
}
