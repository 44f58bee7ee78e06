/** A page made with assistant-ui, whose client of AG-UI is one between the two that other tests drive. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AgUiSite, openAgUiSite } from '../harness/ag-ui/site.ts';
import { openReactPages, type ReactPages } from '../harness/chat/react-pages.ts';
import { describeInChromium } from '../harness/in-chromium.ts';
import { newPerson } from '../harness/protocols/pods.ts';

const PAGE = `
import { AssistantRuntimeProvider, MessagePrimitiveParts, ThreadPrimitiveMessages } from '@assistant-ui/core/react';
import { useAgUiInterrupts, useAgUiRuntime, useAgUiSubmitInterruptResponses } from '@assistant-ui/react-ag-ui';
import { HttpAgent } from '@ag-ui/client';
import { useState } from 'react';

declare const userToken: () => string;

function Interrupt() {
  const [one] = useAgUiInterrupts();
  const submit = useAgUiSubmitInterruptResponses();
  const [answer, setAnswer] = useState('');
  if (one === undefined) return null;
  const payload = one.reason === 'tool_call' ? { approved: true } : { answer };
  return (
    <form role="group" onSubmit={(event) => event.preventDefault()}>
      <p>{one.message}</p>
      <input aria-label="Answer" value={answer} onChange={({ target }) => setAnswer(target.value)} />
      <button onClick={() => submit([{ interruptId: one.id, status: 'resolved', payload }])}>Answer</button>
    </form>
  );
}

const Text = ({ text }: { text: string }) => <span>{text}</span>;
const Message = () => <p><MessagePrimitiveParts components={{ Text }} /></p>;

function Support() {
  const [agent] = useState(
    () => new HttpAgent({ url: '/run/ag-ui/helper', headers: { authorization: 'Bearer ' + userToken() } }),
  );
  const runtime = useAgUiRuntime({ agent: agent as never });
  const say = async (text: string) => {
    // A reply is shown a moment before its run has ended.
    for (let looks = 0; runtime.thread.getState().isRunning; looks += 1) {
      if (looks > 1_000) throw new Error('The run does not end.');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    runtime.thread.append({ role: 'user', content: [{ type: 'text', text }] });
  };
  return (
    <AssistantRuntimeProvider runtime={runtime}>
      <main><ThreadPrimitiveMessages components={{ Message }} /></main>
      {['text', 'pay'].map((word) => <button key={word} onClick={() => say(word)}>Say {word}</button>)}
      <Interrupt />
    </AssistantRuntimeProvider>
  );
}
`;

await describeInChromium('a page made with assistant-ui', (chromium) => {
  let site: AgUiSite;
  let pages: ReactPages;
  beforeAll(async () => {
    site = await openAgUiSite();
    pages = await openReactPages({ chromium, apiUrl: site.pods[0].url });
  });
  afterAll(async () => {
    await pages?.stop();
    await site?.stop();
  });

  const heard = (page: Page, text: string) => page.locator('main').getByText(text).waitFor();

  it('shows a question and an approval of its agent, and sends what the person answers', async () => {
    const page = await pages.open(PAGE, newPerson().token);
    await page.getByRole('button', { name: 'Say text' }).click();
    await page.getByText('Which colour?').waitFor();
    await page.getByLabel('Answer').fill('green');
    await page.getByRole('button', { name: 'Answer', exact: true }).click();
    await heard(page, '"answer":"green"');
    await page.getByRole('button', { name: 'Say pay' }).click();
    await page.getByText('The helper wants to call pay of Bank.').waitFor();
    await page.getByRole('button', { name: 'Answer', exact: true }).click();
    await heard(page, 'paid {"amount":7}');
    expect(await page.getByRole('group').count()).toBe(0);
  });
});
