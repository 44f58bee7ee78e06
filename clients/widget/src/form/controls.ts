import type { TemplateResult } from 'lit';
import { multiControl, selectControl, yesNoControl } from './choice-controls.ts';
import type { Control } from './control-frame.ts';
import { textControl } from './text-controls.ts';

/** Renders the control of a field. */
export function renderControl(control: Control): TemplateResult {
  const { field } = control;
  switch (field.kind) {
    case 'boolean':
      return yesNoControl({ ...control, field });
    case 'select':
      return selectControl({ ...control, field });
    case 'multi':
      return multiControl({ ...control, field });
    default:
      return textControl({ ...control, field });
  }
}
