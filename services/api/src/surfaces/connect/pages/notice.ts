/** A page that says one thing: what happened, and what to do next. */
export interface Notice {
  readonly title: string;
  readonly what: string;
  readonly next: string;
}
