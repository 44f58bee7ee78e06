/**
 * An id for a call that is unique within its turn, because some models reuse ids in every step. `known` holds the ids of
 * earlier calls, and the new one is added to it. `step` is the index of the call's step.
 */
export function uniqueCallId(known: Set<string>, modelCallId: string, step: number): string {
  let id = modelCallId;
  for (let attempt = 0; known.has(id); attempt += 1) id = `${modelCallId}.${step}.${attempt}`;
  known.add(id);
  return id;
}
