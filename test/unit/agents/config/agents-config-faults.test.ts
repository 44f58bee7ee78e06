import { expect, it } from 'vitest';
import { AgentsConfigError } from '../../../../services/api/src/agents/config/fault.ts';
import { readAgentsConfig } from '../../../../services/api/src/agents/config/load.ts';
import { ENV, WRONG_FILES } from './fixtures/wrong-files.ts';

it.each(WRONG_FILES)('reports $name with its place', ({ yaml, faults, env = ENV }) => {
  const { text, places } = unmarked(yaml);
  expect(places.length, 'marks and faults').toBe(faults.length);
  expect(faultsOf(text, env)).toEqual(faults.map((fault, index) => `agents.yaml:${places[index]}: ${fault}`));
});

function faultsOf(text: string, env: Readonly<Record<string, string>>): string[] {
  try {
    readAgentsConfig(text, 'agents.yaml', env);
    return [];
  } catch (error) {
    if (!(error instanceof AgentsConfigError)) throw error;
    expect(error.message).not.toMatch(/hunter2|hünter|JBSWY3DPEHPK3PXP|a1a1/);
    const [head, ...lines] = error.message.split('\n');
    expect(head).toBe('The agents configuration is not usable:');
    return lines.map((line) => line.replace('  - ', ''));
  }
}

/** The text without its marks, and the `line:column` of each. */
function unmarked(marked: string): { text: string; places: string[] } {
  const [first = '', ...parts] = marked.split('^');
  let text = first;
  const places: string[] = [];
  for (const part of parts) {
    const lines = text.split('\n');
    places.push(`${lines.length}:${(lines.at(-1)?.length ?? 0) + 1}`);
    text += part;
  }
  return { text, places };
}
