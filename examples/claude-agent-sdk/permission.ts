import type { CanUseTool } from '@anthropic-ai/claude-agent-sdk';
import type { ParleyClient } from '@parley/sdk';
import { createElicitor, createParleyHandler } from '@parley/sdk/elicit';

/** Asks a person before each tool call that needs permission. Only the person's approval allows the call. */
export function createPermission(client: ParleyClient, userId: string): CanUseTool {
  const elicitor = createElicitor({ handlers: [createParleyHandler({ client, userId })] });
  return async (toolName, input, { signal, toolUseID }) => {
    console.log(`Waiting for a decision on the call ${toolUseID}.`);
    const outcome = await elicitor.ask(
      {
        kind: 'approval',
        message: 'The agent wants to use a tool.',
        action: toolName,
        details: Object.fromEntries(
          Object.entries(input).map(([name, value]) => [
            name,
            typeof value === 'string' ? value : JSON.stringify(value),
          ]),
        ),
        timeoutSeconds: 3600,
      },
      { signal, key: `claude-agent.${toolUseID}` },
    );
    if (outcome.status !== 'accepted') return deny(`Nobody approved the call: it was ${outcome.status}.`);
    const { decision, reason = 'No reason was given.' } = outcome.value;
    return decision === 'approved'
      ? { behavior: 'allow', updatedInput: input }
      : deny(`The person refused the call. ${reason}`);
  };
}

/** The agent reads the message, and may try something else. */
function deny(message: string) {
  return { behavior: 'deny', message } as const;
}
