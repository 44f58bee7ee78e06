export type { ControlKind, FormChoice, FormControl } from '@parley/shared/domain/forms/controls';
export { controlsOf } from '@parley/shared/domain/forms/controls';
