import type { ErrorCode } from '../../shared/error-code.js'
import { quoted, type FaultList } from './fault-list.js'

/** `true` or `false` and nothing else; absent is `fallback`. */
export function parseFlag(
  text: string | undefined,
  what: { readonly parameter: string; readonly code: ErrorCode; readonly fallback: boolean },
  faults: FaultList
): boolean {
  if (text === undefined) return what.fallback
  if (text === 'true') return true
  if (text !== 'false')
    faults.add(what.code, what.parameter, `${what.parameter} takes true or false, not ${quoted(text)}.`)
  return text === 'false' ? false : what.fallback
}
