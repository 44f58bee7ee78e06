import { type AgentApp, agent, methods, PROTOCOL_VERSION, RequestError } from '@agentclientprotocol/sdk';
import { shownModes } from './capabilities.ts';
import { requestError } from './errors.ts';
import type { AcpAgentOptions } from './options.ts';
import { promptParts } from './prompt.ts';
import { createSessions, type Sessions } from './sessions.ts';

/**
 * Creates an ACP agent that represents Parley's agents on one connection. It stores nothing: a session is a conversation of
 * Parley, and so is every question and answer in it.
 */
export function createAcpAgent(options: AcpAgentOptions): AgentApp {
  let sessions: Sessions | undefined;

  function ready(): Sessions {
    if (sessions === undefined) throw RequestError.invalidRequest(undefined, 'Call initialize first.');
    return sessions;
  }

  const app = agent({ name: 'parley' });
  app.onConnect(({ signal }) => signal.addEventListener('abort', () => sessions?.close()));
  app.onRequest(methods.agent.initialize, ({ params }) => {
    sessions = createSessions(options, shownModes(params.clientCapabilities));
    return {
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: 'parley', title: 'Parley', version: options.version },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { embeddedContext: true, image: true },
        sessionCapabilities: { list: {}, resume: {}, close: {} },
      },
      // No authentication is offered, because this program was started with a token.
      authMethods: [],
    };
  });
  app.onRequest(methods.agent.session.new, async ({ params }) => {
    if (params.mcpServers.length > 0)
      options.log(
        'MCP servers of the editor are not used: agents of Parley have the servers of their configuration',
      );
    return { sessionId: await ready().begin() };
  });
  app.onRequest(methods.agent.session.load, async ({ params, client }) => {
    await ready().open(client, params.sessionId, { replay: true });
    return {};
  });
  app.onRequest(methods.agent.session.resume, async ({ params, client }) => {
    await ready().open(client, params.sessionId, { replay: false });
    return {};
  });
  app.onRequest(methods.agent.session.list, async ({ params }) => {
    const { conversations, nextCursor } = await ready()
      .list(params.cursor ?? undefined)
      .catch((error: unknown) => {
        throw requestError(error);
      });
    // A conversation belongs to no folder, so every folder lists it.
    const cwd = params.cwd ?? process.cwd();
    const listed = conversations.map(({ conversationId, title, latestTurnAt }) => ({
      sessionId: conversationId,
      cwd,
      updatedAt: latestTurnAt,
      ...(title !== undefined && { title }),
    }));
    return { sessions: listed, ...(nextCursor !== undefined && { nextCursor }) };
  });
  app.onRequest(methods.agent.session.prompt, async ({ params, client, signal }) => {
    const parts = promptParts(params.prompt);
    return { stopReason: await ready().prompt(client, params.sessionId, parts, signal) };
  });
  app.onNotification(methods.agent.session.cancel, ({ params }) => ready().cancel(params.sessionId));
  app.onRequest(methods.agent.session.close, async ({ params }) => {
    await ready().end(params.sessionId);
    return {};
  });
  return app;
}
