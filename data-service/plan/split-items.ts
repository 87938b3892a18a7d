/**
 * The items of `in` and `between`: split on commas and trimmed, unless in double quotes, where `""` is a quote. An
 * error says what is wrong with the quoting.
 */
export function splitItems(text: string): readonly string[] | Error {
  const items: string[] = []
  let rest = text
  for (;;) {
    const quotedItem = /^\s*"((?:[^"]|"")*)"\s*(?:,|$)/.exec(rest)
    if (quotedItem === null && /^\s*"/.test(rest)) {
      return new Error('has a double quote that is not closed before the next comma or the end')
    }
    const comma = rest.indexOf(',')
    const [whole, item] =
      quotedItem !== null
        ? [quotedItem[0], (quotedItem[1] ?? '').replaceAll('""', '"')]
        : comma === -1
          ? [rest, rest.trim()]
          : [rest.slice(0, comma + 1), rest.slice(0, comma).trim()]
    items.push(item)
    if (!whole.endsWith(',') || (quotedItem === null && comma === -1)) return items
    rest = rest.slice(whole.length)
  }
}
