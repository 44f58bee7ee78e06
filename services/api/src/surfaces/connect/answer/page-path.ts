/** The path of the page on which a question is answered. */
export function answerPath(elicitationId: string): string {
  return `/auth/answer/${elicitationId}`;
}
