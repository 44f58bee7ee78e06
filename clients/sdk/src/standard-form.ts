import { ParleyClientError } from '@parley/core';
import { isRecord } from '@parley/core/domain/plain-record';
import type { FormSchemaInput } from './typed-form.ts';

interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/**
 * A schema object of a library such as zod, which describes itself as JSON Schema and checks values (standardschema.dev,
 * `StandardSchemaV1` with `StandardJSONSchemaV1`).
 */
export interface StandardForm<Output = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly jsonSchema: {
      readonly input: (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown>;
    };
  };
}

export function isStandardForm(schema: FormSchemaInput | StandardForm): schema is StandardForm {
  return '~standard' in schema;
}

/** The form that a schema object describes. Throws `invalid_request` if the object cannot describe itself as JSON Schema. */
export function formOf(schema: StandardForm): FormSchemaInput {
  try {
    const { properties, ...form } = schema['~standard'].jsonSchema.input({ target: 'draft-2020-12' });
    return { ...form, properties: withoutPatterns(properties) } as FormSchemaInput;
  } catch (cause) {
    const message = 'requestedSchema: this schema object cannot describe itself as JSON Schema.';
    throw new ParleyClientError('invalid_request', message, { cause });
  }
}

/**
 * Converts an answer to the schema object's own type, with its transformations. Throws `invalid_answer` if the object refuses
 * what the JSON Schema accepts, for example by a refinement.
 */
export async function parseAnswer(schema: StandardForm, content: unknown): Promise<unknown> {
  const result = await schema['~standard'].validate(content);
  if (result.issues === undefined) return result.value;
  const faults = result.issues.map(({ path = [], message }) => {
    const place = path.map((key) => String(typeof key === 'object' ? key.key : key)).join('.');
    return place === '' ? message : `${place}: ${message}`;
  });
  throw new ParleyClientError(
    'invalid_answer',
    `The answer does not fit the schema object. ${faults.join('; ')}`,
  );
}

/** Libraries add a pattern to each format. Parley refuses patterns, and the format says the same. */
function withoutPatterns(properties: unknown): unknown {
  if (!isRecord(properties)) return properties;
  return Object.fromEntries(
    Object.entries(properties).map(([name, field]) => {
      if (!isRecord(field) || field.format === undefined) return [name, field];
      const { pattern: _pattern, ...rest } = field;
      return [name, rest];
    }),
  );
}
