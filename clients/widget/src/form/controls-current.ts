import { type ElementPart, noChange } from 'lit';
import { Directive, directive } from 'lit/directive.js';

/** What a control holds: the property that holds it, and the value it should have. */
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
 * Gives a control a value, and leaves it alone when it has that value: writing the same one again would move the
 * caret in some browsers, and end what an input method has begun.
 */
export const current = directive(Current);
