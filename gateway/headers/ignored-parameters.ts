const MAX_NAMES = 20
const MAX_BYTES = 2048

/**
 * The value of `X-Ignored-Parameters`: percent-encoded names, comma-separated, at most 20 of them and 2 KB; a name that
 * does not fit is left out whole. undefined where there is none to tell.
 */
export function ignoredParameters(names: readonly string[]): string | undefined {
  let value = ''
  let count = 0
  for (const name of names) {
    const encoded = encodeURIComponent(name)
    const longer = value === '' ? encoded : `${value},${encoded}`
    if (encoded === '' || longer.length > MAX_BYTES) continue
    value = longer
    count += 1
    if (count === MAX_NAMES) break
  }
  return value === '' ? undefined : value
}
