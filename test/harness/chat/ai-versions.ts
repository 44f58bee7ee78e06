import * as ai6 from 'ai';
import * as ai7 from 'ai7';

type AiSdk = typeof ai6;

/** The versions of the AI SDK that the packages take, side by side. What types the packages have under 7, packages.test.ts checks. */
export const AI_VERSIONS = [
  { version: 6, ai: ai6 },
  { version: 7, ai: ai7 as unknown as AiSdk },
] as const satisfies readonly { readonly version: 6 | 7; readonly ai: AiSdk }[];
