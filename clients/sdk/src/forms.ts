export type { ControlKind, FormChoice, FormControl } from '@parley/core/domain/forms/controls';
export { controlsOf } from '@parley/core/domain/forms/controls';
