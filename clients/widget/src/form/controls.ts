import type { TemplateResult } from 'lit';
import { multiControl, selectControl, yesNoControl } from './controls-choice.ts';
import type { Control } from './controls-frame.ts';
import { writtenControl } from './controls-text.ts';

/** Draws the control of a field. */
export function controlOf(control: Control): TemplateResult {
  const { field } = control;
  switch (field.kind) {
    case 'boolean':
      return yesNoControl({ ...control, field });
    case 'select':
      return selectControl({ ...control, field });
    case 'multi':
      return multiControl({ ...control, field });
    default:
      return writtenControl({ ...control, field });
  }
}
