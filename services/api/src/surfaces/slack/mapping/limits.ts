/**
 * What Slack's blocks take, by its reference (docs.slack.dev/reference/block-kit). Slack refuses a whole modal for one value
 * beyond these.
 */
export const SLACK_MAX = {
  /** Characters of the label and of the hint of an input. */
  label: 2_000,
  /** Characters of what is typed into an input, and of the least that it asks for. */
  text: 3_000,
  /** Characters of an option. */
  optionText: 75,
  /** Options of radio buttons and checkboxes, and of the lists beyond. */
  buttons: 10,
  options: 100,
  /** Bytes of a modal. The reference names 250 kB; the rest is for its texts. */
  inputsJson: 150_000,
} as const;

/** The text of a number for an input: in plain notation only, and a whole one where the input takes no others. */
export function slackNumber(value: number): string | undefined {
  const text = String(value);
  return /^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? text : undefined;
}

/** The seconds since 1970 of an RFC 3339 time; undefined where they have not ten digits, as of times before 2001-09-09. */
export function slackSeconds(time: string): number | undefined {
  const seconds = Math.floor(Date.parse(time.toUpperCase()) / 1_000);
  return seconds >= 1e9 && seconds < 1e10 ? seconds : undefined;
}
