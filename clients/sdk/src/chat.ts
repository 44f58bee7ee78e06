export type { UIMessageChunk as ChatChunk } from 'ai';
export {
  type ChatArchive,
  type ChatHistory,
  type ChatListOptions,
  type ChatPage,
  type ChatSummary,
  createChatArchive,
} from './chat/archive.ts';
export { type AttachableChat, isTurnWaiting, type ShownChat } from './chat/attach.ts';
export { ChatStreamError, type ChatStreamReason, isChatStreamError } from './chat/errors.ts';
export type { HeaderSource } from './chat/request.ts';
export {
  type ChatTransportOptions,
  createChatTransport,
  type ParleyChatTransport,
} from './chat/transport.ts';
export { followTurn, type WholeTurnDeps } from './chat/whole-turn.ts';
