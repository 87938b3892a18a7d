import type { Fault } from '../../shared/domain-error.js'
import type { RouteQuery } from './route-query.js'

/** How the CSV of an export is written. */
export interface ExportOptions {
  readonly bom: boolean
  readonly escapeFormulas: boolean
}

/** `bom` and `escapeFormulas` are the gateway's own, so it judges them: what is wrong is `request.malformed`. */
export function exportOptions(values: RouteQuery['values']): ExportOptions & { readonly faults: readonly Fault[] } {
  const faults: Fault[] = []
  const flag = (name: 'bom' | 'escapeFormulas'): boolean => {
    const text = values[name] ?? 'true'
    if (text !== 'true' && text !== 'false') {
      faults.push({
        code: 'request.malformed',
        detail: `The parameter ${name} must be true or false, once.`,
        place: { in: 'parameter', name }
      })
    }
    return text === 'true'
  }
  return { bom: flag('bom'), escapeFormulas: flag('escapeFormulas'), faults }
}
