/** Asks in the terminal of this process as its first argument says. The outcomes go to the file of the second. */
import { writeFileSync } from 'node:fs';
import { z } from 'zod';
import { createTerminalHandler } from '../../../clients/cli/src/terminal.ts';
import { createElicitor, type Elicitor } from '../../../clients/sdk/src/elicit.ts';

const SCENES: Readonly<Record<string, (elicitor: Elicitor) => Promise<unknown>>> = {
  async sensitive({ ask }) {
    const base = { sensitive: true } as const;
    return [
      await ask({ ...base, kind: 'choice', message: 'Which illness?', options: ['asthma', 'migraine'] }),
      await ask({
        ...base,
        kind: 'multi_choice',
        message: 'Which drugs?',
        options: ['aspirin', 'codeine'],
        min: 1,
      }),
      await ask({ kind: 'choice', message: 'Which colour?', options: ['red', 'blue'] }),
    ];
  },
  /** A sensitive question that is withdrawn when the person presses x. */
  async withdrawn({ ask }) {
    const controller = new AbortController();
    process.stdin.on('data', (data) => {
      if (String(data) === 'x') setImmediate(() => controller.abort(new Error('withdrawn')));
    });
    const drugs = ask(
      { kind: 'multi_choice', message: 'Which drugs?', options: ['aspirin', 'codeine'], sensitive: true },
      { signal: controller.signal },
    );
    return [
      await drugs.catch((error: Error) => error.message),
      await ask({ kind: 'choice', message: 'Which colour?', options: ['red', 'blue'] }),
    ];
  },
  /** A question that is asked while another is on the screen, and one that the check of an answer asks. */
  async nested({ ask }) {
    let isAsked = false;
    const schema = z.object({ pods: z.int() }).refine(async ({ pods }) => {
      if (isAsked) return true;
      isAsked = true;
      const sure = await ask({ kind: 'confirmation', message: `Really ${pods} pods?` });
      return sure.status === 'accepted' && sure.value;
    });
    return Promise.all([
      ask({ kind: 'form', message: 'How many?', schema }),
      ask({ kind: 'text', message: 'And your name?' }),
    ]);
  },
  async pasted({ ask }) {
    return [
      await ask({ kind: 'confirmation', message: 'Shall we begin?' }),
      await ask({ kind: 'text', message: 'What happened?', maxLength: 2_000 }),
      await ask({ kind: 'number', message: 'How often?' }),
      await ask({ kind: 'secret', message: 'The key?' }),
      await ask({ kind: 'text', message: 'Your name?' }),
    ].map((outcome) =>
      outcome.status === 'accepted' && typeof outcome.value === 'object' ? outcome.value.reveal() : outcome,
    );
  },
  /** A text that is withdrawn by the editor in which the person edits it. */
  async edited({ ask }) {
    const controller = new AbortController();
    process.once('SIGUSR2', () => controller.abort(new Error('withdrawn')));
    process.env.ASKS_PID = String(process.pid);
    const text = ask(
      { kind: 'text', message: 'What happened?', maxLength: 2_000 },
      { signal: controller.signal },
    );
    return [
      await text.catch((error: Error) => error.message),
      await ask({ kind: 'text', message: 'Your name?' }),
    ];
  },
  async late({ ask }) {
    return [
      await ask({ kind: 'text', message: 'Too late?', timeoutSeconds: 1 }),
      await ask({ kind: 'text', message: 'In time?' }),
    ];
  },
  async nobody({ ask }) {
    return [
      await ask({ kind: 'text', message: 'Anybody?', fallback: 'no' }),
      await ask({ kind: 'text', message: 'Anybody?' }).catch((error: Error) => error.message),
    ];
  },
};

const [scene = '', file = '', ...flags] = process.argv.slice(2);
const handlers = [createTerminalHandler({ plain: flags.includes('--plain') })];
SCENES[scene]?.(createElicitor({ handlers })).then((outcomes) =>
  writeFileSync(file, JSON.stringify(outcomes)),
);
