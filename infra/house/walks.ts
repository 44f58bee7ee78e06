/**
 * The paths of calls through the product. Each step names a file and the function that is called in it. `~` marks a step that
 * begins without a call, because a message, a job or another request causes it. `+` marks a function that the wiring passes
 * under another name.
 */
const SERVED = ['services/api/src/http/router.ts createRouter', 'services/api/src/http/serve.ts Serve'];

const COMMITTED = [
  'shared/src/redis/elicitations/records.ts commit',
  'shared/src/redis/elicitations/commit-call.ts commitCall',
  'shared/src/redis/client/keys.ts commitNames',
];

const CREATED = [
  'shared/src/records/create.ts createRecord',
  'shared/src/redis/elicitations/records.ts create',
  'shared/src/redis/elicitations/commit-call.ts createCall',
  'shared/src/redis/client/keys.ts commitNames',
];

/** A turn from its beginning to the model's reply. */
const BEGUN = [
  'services/api/src/turns/turns.ts begin',
  'shared/src/runs/pod-runs.ts begin',
  'shared/src/runs/begin.ts beginRun',
  'shared/src/redis/runs/runs.ts begin',
];

const WORKED = [
  'services/api/src/agents/loop/run.ts runTurn',
  'services/api/src/agents/loop/run-steps.ts runSteps',
];

/** A call of a tool of an MCP server. */
const TOOL_CALLED = [
  'services/api/src/agents/tools/call-tool.ts callTool',
  'services/api/src/agents/tools/server-tools.ts call',
  'services/api/src/agents/tools/passthrough/send-call.ts sendCall',
  'services/api/src/agents/mcp/calls/mcp-tools.ts call',
  'services/api/src/agents/mcp/calls/call.ts createCaller',
];

const FOLLOWED = [
  'services/api/src/turns/follow.ts followTurn',
  'shared/src/elicitations/watch.ts watch',
  'shared/src/redis/feed/feed.ts read',
];

export const WALKS: Readonly<Record<string, readonly string[]>> = {
  ask: [
    ...SERVED,
    'services/api/src/surfaces/rest/elicitations.ts handle',
    'shared/src/elicitations/engine.ts ask',
    'shared/src/elicitations/asking/ask.ts ask',
    'shared/src/elicitations/asking/define.ts define',
    ...CREATED,
  ],
  answer: [
    ...SERVED,
    'services/api/src/surfaces/rest/elicitations.ts handle',
    'shared/src/elicitations/engine.ts answer',
    'shared/src/elicitations/answer.ts answer',
    'shared/src/records/settle.ts settle',
    'shared/src/domain/elicitations/family.ts decide',
    'shared/src/domain/elicitations/transition.ts transition',
    ...COMMITTED,
  ],
  wait: [
    ...SERVED,
    'services/api/src/surfaces/rest/elicitations.ts handle',
    'shared/src/elicitations/engine.ts wait',
    'shared/src/records/wait.ts wait',
    'shared/src/records/read.ts readRecord',
    'shared/src/records/record-wakes.ts subscribe',
    'shared/src/redis/feed/event-bus.ts subscribe',
    'shared/src/redis/client/subscriber.ts subscribe',
    '~ shared/src/redis/client/subscriber.ts notify',
    '+ shared/src/redis/feed/event-bus.ts subscribe',
    '+ shared/src/redis/feed/wake-codec.ts decodeWake',
    '~ shared/src/records/wait.ts wait',
    'shared/src/records/ended.ts recordEnded',
  ],
  turn: [
    ...SERVED,
    'services/api/src/surfaces/ai-sdk/routes.ts handle',
    'services/api/src/turns/start.ts startTurn',
    ...BEGUN,
    'services/api/src/agents/loop/turn-work.ts workOnBegun',
    ...WORKED,
    ...TOOL_CALLED,
    ...FOLLOWED,
    'services/api/src/surfaces/ai-sdk/encoder.ts createAiSdkEncoder',
    'services/api/src/http/sse.ts sendEvents',
  ],
  'take-over': [
    '~ shared/src/redis/runs/run-queue.ts consume',
    '~ shared/src/runs/pod-runs.ts claim',
    'shared/src/runs/claim.ts claimRun',
    'shared/src/redis/runs/runs.ts takeOver',
    '~ services/api/src/turns/turns.ts createTurns',
    'services/api/src/agents/loop/turn-work.ts workOnClaimed',
    'services/api/src/agents/loop/read-checkpoint.ts readCheckpoint',
    ...WORKED,
    ...TOOL_CALLED,
  ],
  'MCP call, 2025-11-25': [
    ...SERVED,
    'services/api/src/surfaces/mcp/routes.ts handle',
    'services/api/src/surfaces/mcp/legacy/serve.ts post',
    'services/api/src/surfaces/mcp/legacy/tool-call.ts streamToolCall',
    'services/api/src/surfaces/mcp/calls.ts begin',
    ...BEGUN,
    'services/api/src/surfaces/mcp/legacy/stream.ts callFrames',
    ...FOLLOWED,
    'services/api/src/surfaces/mcp/outcome.ts createCallOutput',
    'services/api/src/http/sse.ts sendEvents',
  ],
  'MCP call, 2026-07-28': [
    ...SERVED,
    'services/api/src/surfaces/mcp/routes.ts handle',
    'services/api/src/surfaces/mcp/modern/serve.ts createModernServing',
    'services/api/src/surfaces/mcp/modern/call.ts answerToolCall',
    'services/api/src/surfaces/mcp/calls.ts begin',
    ...BEGUN,
    'services/api/src/surfaces/mcp/rounds.ts followRound',
    ...FOLLOWED,
    'services/api/src/surfaces/mcp/outcome.ts createCallOutput',
    'services/api/src/surfaces/mcp/modern/state.ts createCallState',
  ],
  'Slack message': [
    ...SERVED,
    'services/api/src/surfaces/slack/http/routes.ts handle',
    'services/api/src/surfaces/slack/app.ts process',
    'services/api/src/surfaces/slack/listeners/messages.ts listenToMessages',
    'services/api/src/turns/start.ts startTurn',
    ...BEGUN,
    '~ services/api/src/surfaces/slack/delivery/kind.ts slackKind',
    'services/api/src/surfaces/slack/delivery/turn.ts deliverTurn',
    ...FOLLOWED,
    'services/api/src/surfaces/slack/delivery/post.ts postOnce',
  ],
  'A2A message': [
    ...SERVED,
    'services/api/src/surfaces/a2a/routes.ts handle',
    'services/api/src/surfaces/a2a/bindings.ts serveJsonRpc',
    '+ services/api/src/surfaces/a2a/handler.ts sendMessage',
    'services/api/src/surfaces/a2a/message.ts readMessage',
    'services/api/src/surfaces/a2a/tasks.ts begin',
    ...BEGUN,
    'services/api/src/surfaces/a2a/task-stream.ts openTask',
    'shared/src/elicitations/watch.ts watch',
    'shared/src/redis/feed/feed.ts read',
    'services/api/src/http/sse.ts sendEvents',
  ],
  approval: [
    '~ services/api/src/agents/tools/call-tool.ts callTool',
    'services/api/src/agents/tools/approvals/gate.ts call',
    'services/api/src/agents/tools/approvals/request.ts approveCall',
    'shared/src/elicitations/engine.ts request',
    'shared/src/elicitations/approvals/request.ts requestApproval',
    ...CREATED,
    '~ services/api/src/http/serve.ts Serve',
    'services/api/src/surfaces/rest/approvals.ts handle',
    'shared/src/elicitations/engine.ts decide',
    'shared/src/elicitations/approvals/decide.ts decide',
    'shared/src/records/settle.ts settle',
    'shared/src/domain/approvals/family.ts decide',
    'shared/src/domain/approvals/transition.ts approvalTransition',
    ...COMMITTED,
    '~ services/api/src/agents/tools/approvals/gate.ts callAsDecided',
  ],
};
