import { inspect } from 'node:util';

/** A value that only `reveal` returns. Logs, JSON and template strings do not show it. */
export interface Secret<T> {
  reveal(): T;
}

/** Hides `value`. Any conversion of the secret to text gives `[secret]`. */
export function createSecret<T>(value: T): Secret<T> {
  const masked = () => '[secret]';
  return Object.freeze({ reveal: () => value, toJSON: masked, toString: masked, [inspect.custom]: masked });
}
