import type { BackendSettings } from '@parley/shared/ports/backend';

/** Bounds of a backend that no test meets unless it sets its own. */
export const ROOMY: BackendSettings = {
  retentionMs: 60_000,
  deadLetterMs: 120_000,
  openPerUserMax: 1_000,
  openBytesPerUserMax: 1e9,
  pageBytesMax: 1e9,
  historyPerUserMax: 1_000,
  feedEventsMax: 10_000,
  turnBytesMax: 1_000_000,
  historyMessagesMax: 100,
  historyBytesMax: 1e9,
  historyImageBytesMax: 1e9,
  conversationTtlMs: 60_000,
  chatQuotas: { turnsMax: 1_000, tokensMax: 1e9, conversationsMax: 1_000, storedBytesMax: 1e9 },
  workflowEntriesMax: 4,
  diedSoonMs: 600_000,
};
