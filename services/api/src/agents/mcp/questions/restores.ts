/** What the answer to one field becomes for the server that asked. */
export interface FieldRestore {
  /** The server's name of the field, where forms refuse it. */
  readonly name?: string;
  /** The server's values of choices that are no texts, by the text of the choice. */
  readonly values?: Readonly<Record<string, number | boolean>>;
  /** The server requires the field, and takes null for no answer. */
  readonly isNullWhenAbsent?: true;
}

/** By the name of the field in the form. */
export type Restores = Readonly<Record<string, FieldRestore>>;

type RestoredContent = Readonly<Record<string, unknown>>;

/** The content of an answer, as the schema of the server describes it. */
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
