import type { Command } from 'commander';
import { type CliContext, isJson, print, printJson } from '../context.ts';
import { DEV_TENANT, readDevServer } from '../dev/settings.ts';
import { CliError, EXIT } from '../exit-code.ts';
import { homeFolder } from '../home.ts';

/** `parley env`: prints what a local program needs to use the server of `parley dev`, as lines of an `.env` file. */
export function registerEnv(program: Command, context: CliContext): void {
  const command = program
    .command('env')
    .description('print the settings of a program that uses the server of parley dev, as an .env file')
    .action(() => {
      const server = readDevServer(homeFolder(context.env));
      if (server === undefined)
        throw new CliError(EXIT.failed, 'no_server', `Start a server first: ${context.calledAs} dev`);
      const settings = {
        PARLEY_URL: server.url,
        PARLEY_TOKEN: server.serviceKey,
        PARLEY_JWT_SECRET: server.jwtSecret,
        PARLEY_TENANT: DEV_TENANT,
      };
      if (isJson(command)) printJson(context, settings);
      else for (const [name, value] of Object.entries(settings)) print(context, `${name}=${value}`);
    });
}
