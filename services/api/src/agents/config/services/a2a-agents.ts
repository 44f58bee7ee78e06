import { z } from 'zod';
import { count, flag, TaskTimeout, title, url } from '../value-types.ts';
import { HTTP_CREDENTIAL, PERSON_HEADER, refuseCredential } from './http-credential.ts';

const CardKey = z
  .looseObject({ kty: z.enum(['EC', 'RSA', 'OKP'], 'must be EC, RSA or OKP'), kid: z.string().optional() })
  .refine((key) => !('d' in key), 'is a private key; write the public one, and replace the key')
  .describe('A public key as JWK (RFC 7517). With several keys, `kid` says which one signed.');

/** A remote agent that speaks A2A. */
export const A2aAgent = z
  .strictObject({
    title: title('Name of the agent for people. Its questions show it.'),
    cardUrl: url(
      'Address of the agent card. Unless it ends with `.json`, `/.well-known/agent-card.json` is appended.',
    ),
    origins: z
      .array(url('An origin, such as `https://agents.example.com`.'))
      .max(20)
      .default([])
      .describe(
        'Origins that may be called in addition to that of the card. Interfaces of the card at other origins are not used, so that a card leads no credential elsewhere.',
      ),
    cardKeys: z
      .array(CardKey)
      .max(10)
      .default([])
      .describe(
        'Keys of which one must have signed the card. Absent: the card is taken without a signature.',
      ),
    ...HTTP_CREDENTIAL,
    ...PERSON_HEADER,
    elicitation: flag(
      true,
      '`false`: the agent cannot ask people questions. It is told that nobody answers.',
    ),
    push: flag(true, '`false`: no push notifications are asked for, also where the agent offers them.'),
    taskTimeoutSeconds: TaskTimeout,
    messageBytes: count(
      [1_048_576, 1_024, 16_777_216],
      'Size of one reply or event of the agent. A larger one ends the task.',
    ),
    resultCharacters: count(
      [100_000, 1_000, 1_000_000],
      'How much of the text of its artifacts the delegating model reads.',
    ),
    artifacts: count([50, 1, 1_000], 'How many artifacts of a task are read.'),
  })
  .superRefine(refuseCredential)
  .describe('An agent elsewhere that speaks A2A, over JSON-RPC or HTTP+JSON.');
