/** How the answer to one field is converted for the server that asked. */
export interface FieldRestore {
  /** The server's name for the field, if forms refuse that name. */
  readonly name?: string;
  /** The server's values of choices that are not texts, by the text of the choice. */
  readonly values?: Readonly<Record<string, number | boolean>>;
  /** The server requires the field, and accepts null as "no answer". */
  readonly isNullWhenAbsent?: true;
}

/** Conversions by the field's name in the form. */
export type Restores = Readonly<Record<string, FieldRestore>>;

type RestoredContent = Readonly<Record<string, unknown>>;

/** Converts an answer to fit the server's schema. */
export function restoreContent(content: RestoredContent, restores: Restores = {}): RestoredContent {
  const given = Object.entries(content).map(([shown, value]): [string, unknown] => {
    const restore = Object.hasOwn(restores, shown) ? restores[shown] : undefined;
    return [restore?.name ?? shown, serverValue(value, restore?.values)];
  });
  const absent = Object.entries(restores)
    .filter(([shown, { isNullWhenAbsent }]) => isNullWhenAbsent && !Object.hasOwn(content, shown))
    .map(([shown, { name = shown }]): [string, null] => [name, null]);
  return Object.fromEntries([...given, ...absent]);
}

function serverValue(value: unknown, values: FieldRestore['values']): unknown {
  if (values === undefined) return value;
  if (Array.isArray(value)) return value.map((one) => serverValue(one, values));
  return typeof value === 'string' && Object.hasOwn(values, value) ? values[value] : value;
}
