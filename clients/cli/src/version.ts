/** The version of the command; a test compares it with the manifest. */
export const VERSION = '0.1.0';
