/** What a tool says about itself, as far as it matters to a person who decides. */
export type ToolTrait = 'reads' | 'changes' | 'keeps' | 'reaches' | 'unknown';
