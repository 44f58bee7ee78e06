const NAME = /^a2a-push\/(.+)\/(\d+)$/s;

/** The name of the record that has the target of pushes in one slot of a task. */
export function pushTargetName(streamRequestId: string, slot: number): string {
  return `a2a-push/${streamRequestId}/${slot}`;
}

/** Takes such a name apart; undefined when it is not one. */
export function parsePushTargetName(name: string) {
  const [, streamRequestId, slot] = NAME.exec(name) ?? [];
  return streamRequestId === undefined ? undefined : { streamRequestId, slot: Number(slot) };
}
