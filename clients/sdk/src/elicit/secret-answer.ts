import type { SecretAnswer } from './asks.ts';

const MASK = '[secret]';

/** Wraps a secret. The value is a private field, which neither JSON nor an inspection shows. */
export function createSecretAnswer(value: string): SecretAnswer {
  return new BoxedSecret(value);
}

class BoxedSecret implements SecretAnswer {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return MASK;
  }

  toJSON(): string {
    return MASK;
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return MASK;
  }
}
