import { z } from 'zod';
import { envName, HeaderName, Id } from '../value-types.ts';

/** Whose credential the calls of a service carry. */
export const Scope = z
  .enum(['none', 'project', 'user'])
  .describe(
    'Credential of the calls. `none`: none. `project`: one for all people, from the environment or obtained by the `connector`. `user`: the person’s own, obtained by the `connector`.',
  );

/** The keys by which a service that is called over HTTP gets its credential. */
export const HTTP_CREDENTIAL = {
  headersFromEnv: z
    .record(HeaderName, envName('Variable that holds the value of the header.'))
    .default({})
    .describe(
      'Headers of every call: the name of the header, and the name of the variable that holds its complete value.',
    ),
  credentialScope: Scope,
  connector: Id.optional().describe(
    'An entry of `connectors`. Required with `credentialScope: user`. With `project`, for MCP servers, one with `type: client_credentials` or `workload_identity`.',
  ),
};

/** The keys that tell a remote agent for whom it works. */
export const PERSON_HEADER = {
  userHeader: HeaderName.optional().describe(
    'Header that carries the id of the person for whom a task is done, percent-encoded where it is not plain ASCII or has a `%`. `Parley-User` for another Parley that is called with a service key.',
  ),
  userTenant: z
    .string()
    .min(1)
    .default('default')
    .describe(
      'With `userHeader`: the tenant whose people the header names. The agent is not called for those of other tenants.',
    ),
};

interface HttpCredential {
  readonly credentialScope: z.infer<typeof Scope>;
  readonly connector?: string | undefined;
  readonly headersFromEnv: Readonly<Record<string, string>>;
}

/** Refuses keys that contradict the scope, and headers that occur twice. */
export function refuseCredential(
  { credentialScope: scope, connector, headersFromEnv }: HttpCredential,
  context: z.RefinementCtx,
): void {
  const headers = Object.keys(headersFromEnv);
  const refuse = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
  if (scope === 'user' && connector === undefined)
    refuse(['connector'], 'is required with `credentialScope: user`: it says how a person gets a credential');
  if (scope === 'none' && connector !== undefined)
    refuse(['connector'], 'obtains a credential, and `credentialScope: none` sends none');
  if (scope === 'project' && headers.length === 0 && connector === undefined)
    refuse(
      ['headersFromEnv'],
      'is required with `credentialScope: project`: it holds the credential, unless a `connector` obtains one',
    );
  if (scope === 'none' && headers.length > 0)
    refuse(['headersFromEnv'], "is a credential of the project's; write `credentialScope: project`");
  const lower = headers.map((name) => name.toLowerCase());
  for (const [index, name] of headers.entries())
    if (lower.indexOf(name.toLowerCase()) < index)
      refuse(['headersFromEnv', name], 'occurs twice; names of headers are not case-sensitive');
}
