/**
 * The id of a call within its turn. Some models use the same ids again in every step. `known` holds the ids of the calls
 * before it, and takes this one; `step` is the index of its step.
 */
export function uniqueCallId(known: Set<string>, modelCallId: string, step: number): string {
  let id = modelCallId;
  for (let attempt = 0; known.has(id); attempt += 1) id = `${modelCallId}.${step}.${attempt}`;
  known.add(id);
  return id;
}
