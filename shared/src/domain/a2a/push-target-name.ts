const NAME = /^a2a-push\/(.+)\/(\d+)$/s;

/** The name of the record that stores the push target in one slot of a task. */
export function pushTargetName(streamRequestId: string, slot: number): string {
  return `a2a-push/${streamRequestId}/${slot}`;
}

/** Parses a name of `pushTargetName`; undefined for any other text. */
export function parsePushTargetName(name: string) {
  const [, streamRequestId, slot] = NAME.exec(name) ?? [];
  return streamRequestId === undefined ? undefined : { streamRequestId, slot: Number(slot) };
}
