import { Chat, useChat } from '@ai-sdk/react';
import { createChatTransport, isTurnWaiting } from '@parley/sdk/chat';
import type { Elicitation } from '@parley/widget';
import { ElicitationCard } from '@parley/widget/react';
import { createElicitationServer } from '@parley/widget/server';
import type { UIMessage } from 'ai';
import { type FormEvent, StrictMode, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';

/** A message, whose parts may be questions of the agent. */
type Message = UIMessage<unknown, { 'elicitation-request': Elicitation }>;

// vite.config.ts forwards the calls under /run and /v1 to Parley.
const baseUrl = location.origin;
const getToken = async () => (await fetch('/token')).text();
const transport = createChatTransport<Message>({ baseUrl, token: getToken });
const server = createElicitationServer({ baseUrl, getToken });

/** The conversation is in the address, so that a reload shows the same one. */
function conversationId(): string {
  if (location.hash === '') location.hash = crypto.randomUUID();
  return location.hash.slice(1);
}

function TravelDesk() {
  const [chat] = useState(() => new Chat<Message>({ id: conversationId(), transport }));
  const { messages, sendMessage, status, error } = useChat({ chat, resume: true });
  useEffect(() => transport.attach(chat), [chat]);
  const [isSettled, setIsSettled] = useState(false);
  const [text, setText] = useState('');

  // If a turn waits for long, its stream ends. It is resumed once the question is settled.
  useEffect(() => {
    if (!isSettled || status !== 'ready') return;
    setIsSettled(false);
    if (isTurnWaiting(chat)) void chat.resumeStream();
  }, [chat, isSettled, status]);

  function send(event: FormEvent) {
    event.preventDefault();
    setText('');
    void sendMessage({ text });
  }

  return (
    <>
      <h1>Travel desk</h1>
      {messages.map(({ id, role, parts }) => (
        <article key={id} data-role={role}>
          {parts.map((part, at) => {
            if (part.type === 'text') return <p key={at}>{part.text}</p>;
            // A question of the agent. The card sends the answer, and the reply continues in this stream.
            if (part.type === 'data-elicitation-request')
              return (
                <ElicitationCard
                  key={part.id}
                  server={server}
                  elicitation={part.data}
                  onElicitationSettled={() => setIsSettled(true)}
                />
              );
            return null;
          })}
        </article>
      ))}
      {error && <p role="alert">{error.message}</p>}
      <form onSubmit={send}>
        <input aria-label="Message" value={text} onChange={({ target }) => setText(target.value)} />
        <button type="submit" disabled={status !== 'ready' || text === ''}>
          Send
        </button>
      </form>
    </>
  );
}

const root = document.getElementById('root');
if (root !== null)
  createRoot(root).render(
    <StrictMode>
      <TravelDesk />
    </StrictMode>,
  );
