import { Agent, type ClientRequest, get, type IncomingMessage } from 'node:http';
import { microseconds } from '../measurement.ts';

/** A reader of an event stream, with a connection of its own. */
export interface EventReader {
  /** Resolves with the time at which a text has arrived, in microseconds. */
  saw(text: string): Promise<number>;
  close(): void;
}

/** Opens an event stream. Rejects unless it is a 200. */
export async function openEventReader(url: string, token: string): Promise<EventReader> {
  const agent = new Agent({ keepAlive: false });
  const headers = { authorization: `Bearer ${token}` };
  const { request, response } = await new Promise<{ request: ClientRequest; response: IncomingMessage }>(
    (resolve, reject) => {
      const sent = get(url, { agent, headers }, (res) => resolve({ request: sent, response: res }));
      sent.once('error', reject);
    },
  );
  if (response.statusCode !== 200) throw new Error(`an event stream replied ${response.statusCode}`);
  request.on('error', () => undefined);
  response.on('error', () => undefined);
  let text = '';
  let seen: () => void = () => undefined;
  response.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
    seen();
  });
  return {
    saw: (wanted) =>
      new Promise((resolve) => {
        seen = () => {
          if (text.includes(wanted)) resolve(microseconds());
        };
        seen();
      }),
    close: () => request.destroy(),
  };
}
