/**
 * The limits of Slack's blocks, from its reference (docs.slack.dev/reference/block-kit). Slack refuses a whole modal if one
 * value exceeds them.
 */
export const SLACK_MAX = {
  /** Characters of an input's label and hint. */
  label: 2_000,
  /** Characters of typed text, and the largest minimum length of an input. */
  text: 3_000,
  /** Characters of an option. */
  optionText: 75,
  /** Options of radio buttons and checkboxes; longer lists need a menu. */
  buttons: 10,
  options: 100,
  /** Bytes of a modal's inputs. The reference allows 250 kB for a modal; the rest is for its texts. */
  inputsJson: 150_000,
} as const;

/** A number as text for an input: in plain notation, and a whole number if the input accepts no others. */
export function slackNumber(value: number): string | undefined {
  const text = String(value);
  return /^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? text : undefined;
}

/** The seconds since 1970 of an RFC 3339 time. Undefined if they do not have ten digits, as before 2001-09-09. */
export function slackSeconds(time: string): number | undefined {
  const seconds = Math.floor(Date.parse(time.toUpperCase()) / 1_000);
  return seconds >= 1e9 && seconds < 1e10 ? seconds : undefined;
}
