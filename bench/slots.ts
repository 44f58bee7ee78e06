/** Does `count` things, at most `slots` of them at the same time. */
export async function inSlots(
  count: number,
  slots: number,
  run: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const slot = async () => {
    for (let index = next; index < count; index = next) {
      next += 1;
      await run(index);
    }
  };
  await Promise.all(Array.from({ length: slots }, slot));
}
