import { type ElementPart, noChange } from 'lit';
import { Directive, directive } from 'lit/directive.js';

/** Sets a property of an element. */
class Current extends Directive {
  override render(_property: string, _value: unknown): typeof noChange {
    return noChange;
  }

  override update({ element }: ElementPart, [property, value]: [string, unknown]): typeof noChange {
    if (Reflect.get(element, property) !== value) Reflect.set(element, property, value);
    return noChange;
  }
}

/**
 * Sets the value of a control only if it differs. Writing the same value again would move the caret in some browsers, and would
 * interrupt an input method.
 */
export const current = directive(Current);
