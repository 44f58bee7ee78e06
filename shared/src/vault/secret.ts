import { inspect } from 'node:util';

/** Something that shows itself to whoever asks for it by `reveal`, and to no log, no JSON and no template string. */
export interface Secret<T> {
  reveal(): T;
}

/** Keeps `value` out of sight; whatever writes the secret writes `[secret]`. */
export function createSecret<T>(value: T): Secret<T> {
  const masked = () => '[secret]';
  return Object.freeze({ reveal: () => value, toJSON: masked, toString: masked, [inspect.custom]: masked });
}
