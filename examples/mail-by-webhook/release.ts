/** The form of the question, which is the same in an app and in the mail. */
export const RELEASE = {
  type: 'object',
  properties: { release: { type: 'boolean', title: 'Release it' } },
  required: ['release'],
} as const;
