export { createTerminalHandler, type TerminalHandlerOptions } from './terminal/handler.ts';
export type { TerminalStreams } from './terminal/screen.ts';
