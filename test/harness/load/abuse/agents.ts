import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ScriptRule } from '../../../../stand-ins/scripted-model/script.ts';

/** The agent of the abuser, whose model runs in the abuser's process. */
export const ABUSED_AGENT = 'abused';

/** What the ordinary model replies: a question to a message that begins with "ask", else a short text. */
export const ordinaryLine: ScriptRule = ({ userText, results }) => {
  if (results.length > 0) return { text: `Noted: ${results.map(({ text }) => text).join(' and ')}.` };
  if (!userText.startsWith('ask')) return { text: `You said ${userText}.` };
  const ask = { name: 'elicit', arguments: { kind: 'text', message: 'Which colour?' } };
  return { text: 'One moment. ', calls: [ask] };
};

/** Writes the agents file of all pods; returns its path. */
export function writeAgents(
  folder: string,
  models: { readonly ordinary: string; readonly abused: string },
): string {
  const path = join(folder, 'agents.yaml');
  writeFileSync(
    path,
    `models:
  scripted: { provider: openai-compatible, baseUrl: "${models.ordinary}", model: scripted }
  endless: { provider: openai-compatible, baseUrl: "${models.abused}", model: endless }
agents:
  helper: { title: Helper, model: scripted, instructions: Be brief., elicit: true }
  ${ABUSED_AGENT}: { title: Abused, model: endless, instructions: Be brief. }
defaultAgent: helper
`,
  );
  return path;
}
