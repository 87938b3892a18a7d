/** Reads to the end; `seen` is told of each item. */
export async function drain<Item>(
  items: AsyncIterable<Item>,
  seen: (item: Item) => void = () => undefined
): Promise<void> {
  for await (const item of items) seen(item)
}
