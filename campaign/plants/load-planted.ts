import type { LoadHook } from 'node:module'

/** A module and the text that it has in place of its own. */
interface Planted {
  /** `file:///…/dist/data-service/operations/writes/create.js`. */
  readonly url: string
  readonly source: string
}

let planted: Planted | undefined

/** Called by `module.register` with its `data`. */
export function initialize(data: Planted): void {
  planted = data
}

export const load: LoadHook = (url, context, nextLoad) => {
  const { source } = planted ?? {}
  // A query makes Node load a module anew, as the restart after a change of an application does.
  if (source === undefined || url.replace(/\?.*$/, '') !== planted?.url) return nextLoad(url, context)
  return { format: 'module', source, shortCircuit: true }
}
