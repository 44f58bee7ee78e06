/** A defect that somebody could write into the product, and the tests that must fail on it. */
export interface Mutant {
  /** What goes wrong, as a sentence: "An answer is accepted after its deadline." */
  readonly defect: string;
  /** The file of the product, relative to the repository. */
  readonly file: string;
  /** Text that the file holds exactly once. */
  readonly find: string;
  readonly replace: string;
  /** The test file that fails, relative to the repository. */
  readonly killedBy: string;
  /** A part of the title of the test that fails: only tests with it are run. */
  readonly test?: string;
}
