export {
  createElicitationEvents,
  type ElicitationEventOptions,
  type PageQuestion,
} from './ai-provider/events.ts';
export {
  createParleyProvider,
  type ParleyModelSettings,
  type ParleyProvider,
  type ParleyProviderOptions,
} from './ai-provider/model.ts';
export type { ParleyDataPart, ParleyModel } from './ai-provider/types.ts';
