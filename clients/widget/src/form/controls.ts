import type { TemplateResult } from 'lit';
import { multiControl, selectControl, yesNoControl } from './choice-controls.ts';
import type { Control } from './control-frame.ts';
import { textControl } from './text-controls.ts';

/** Renders the control of a field. */
export function renderControl(control: Control): TemplateResult {
  switch (control.field.kind) {
    case 'boolean':
      return yesNoControl(control);
    case 'select':
      return selectControl(control);
    case 'multi':
      return multiControl(control);
    default:
      return textControl(control);
  }
}
