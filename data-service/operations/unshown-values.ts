import type { CallContext } from '../entity/caller.js'
import type { UnshownValues } from '../entity/fields/unshown.js'

/** What the answer says of values that it does not show, which the log names too. */
export function unshownIn(
  { log }: CallContext,
  { count, named, messages }: UnshownValues
): { readonly unshownValues?: string[] } {
  if (count === 0) return {}
  log.warn({ count, values: messages }, 'values not shown')
  return { unshownValues: count > named.length ? [...named, `more=${count - named.length}`] : named }
}
