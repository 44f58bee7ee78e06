/** Does `count` things, at most `lanes` of them at the same time. */
export async function inLanes(
  count: number,
  lanes: number,
  run: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const lane = async () => {
    for (let index = next; index < count; index = next) {
      next += 1;
      await run(index);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}
