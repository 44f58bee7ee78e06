'use client';

import { Chat, useChat } from '@ai-sdk/react';
import { createChatTransport, isTurnWaiting } from '@parley/sdk/chat';
import type { Elicitation } from '@parley/widget';
import { createElicitationServer } from '@parley/widget/server';
import type { UIMessage } from 'ai';
import dynamic from 'next/dynamic';
import { type FormEvent, useEffect, useState } from 'react';

/** A message, whose parts may be questions of the agent. */
type Message = UIMessage<unknown, { 'elicitation-request': Elicitation }>;

// Custom elements need a browser, so the server does not render them.
const ElicitationCard = dynamic(async () => (await import('@parley/widget/react')).ElicitationCard, {
  ssr: false,
});

const getToken = async () => (await fetch('/token')).text();

export function TravelDesk({ id, parleyUrl }: { readonly id: string; readonly parleyUrl: string }) {
  const [transport] = useState(() => createChatTransport<Message>({ baseUrl: parleyUrl, token: getToken }));
  const [server] = useState(() => createElicitationServer({ baseUrl: parleyUrl, getToken }));
  const [chat] = useState(() => new Chat<Message>({ id, transport }));
  const { messages, sendMessage, status, error } = useChat({ chat, resume: true });
  useEffect(() => transport.attach(chat), [transport, chat]);
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
