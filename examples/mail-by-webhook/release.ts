/** The form of the question, which is the same in an app and by mail. */
export const RELEASE = {
  type: 'object',
  properties: { release: { type: 'boolean', title: 'Release it' } },
  required: ['release'],
} as const;
