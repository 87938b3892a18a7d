import { DomainError } from '../../shared/errors.js'
import { MAX_DIMENSIONS, MAX_MEASURES } from '../../shared/request-limits.js'
import type { Dimension, Measure, Totals } from '../entity/totals.js'
import type { TotalsPlan, TotalsSortKey } from './model/plans.js'
import { parseOrder, type SortParams } from './parsing/query.js'
import { quoted, type Violations } from './parsing/violations.js'
import { checkRead, parseRows, type ReadParams, type SelectionParams } from './plan-reads.js'
import { planned, type PlanningContext, UNPAGED_LIMIT } from './planning.js'

interface TotalsParams extends Omit<ReadParams, 'by'> {
  readonly selection: SelectionParams | null
  readonly by?: string
  readonly measures?: string
}

/** Names over columns that the caller may not read are unknown names. */
export function planTotals(params: TotalsParams, context: PlanningContext): TotalsPlan {
  const resource = context.planning.catalogue.resource(params.resource, context.caller)
  const { totals, entity } = resource
  if (totals === undefined) throw new DomainError('route.not-found', 'This resource has no totals.')
  // Of a read of one row `by` is something else.
  const { by: _, ...others } = params
  const { scope, parsed } = checkRead({ resource, read: 'totals', params: others }, context, (violations) => ({
    conditions: parseRows(params.selection, resource, violations),
    ...parseGroups(params, totals, violations)
  }))
  return planned({ operation: 'totals', entity, scope, ...parsed, limit: UNPAGED_LIMIT })
}

/** What is asked for, and in which order. The order is not looked at where it could only be by wrong names. */
function parseGroups(
  { by, measures: computed, selection }: Pick<TotalsParams, 'by' | 'measures' | 'selection'>,
  known: Totals,
  violations: Violations
): Pick<TotalsPlan, 'dimensions' | 'measures' | 'sort'> {
  const dimensions = parseNames(
    { parameter: 'by', text: by, known: known.dimensions, most: MAX_DIMENSIONS, what: 'dimension' },
    violations
  )
  const named = parseNames(
    { parameter: 'measures', text: computed, known: known.measures, most: MAX_MEASURES, what: 'measure' },
    violations
  )
  if (dimensions === undefined || named === undefined) return { dimensions: [], measures: [], sort: [] }
  const measures = named.length === 0 ? known.measures : named
  return { dimensions, measures, sort: parseTotalsOrder(selection, { dimensions, measures }, violations) }
}

interface Named {
  readonly name: string
}

interface NamesAsked<One extends Named> {
  readonly parameter: 'by' | 'measures'
  readonly text: string | undefined
  readonly known: readonly One[]
  readonly most: number
  readonly what: string
}

/** As `fields`: in any letter case, trimmed, each once, in the order asked. undefined where there is a violation. */
function parseNames<One extends Named>(
  { parameter, text = '', known, most, what }: NamesAsked<One>,
  violations: Violations
): readonly One[] | undefined {
  const trimmed = text.split(',').map((name) => name.trim())
  const asked = new Map(trimmed.filter((name) => name !== '').map((name) => [name.toLowerCase(), name]))
  if (asked.size > most) {
    violations.add('totals.invalid', parameter, `${parameter} takes at most ${most} ${what}s, not ${asked.size}.`)
    return undefined
  }
  const names = known.map(({ name }) => name)
  const found = Array.from(asked, ([lower, name]) => {
    const one = known.find((each) => each.name.toLowerCase() === lower)
    if (one === undefined) {
      const all = names.length === 0 ? `There are no ${what}s.` : `There are: ${names.join(', ')}.`
      violations.add(
        'totals.invalid',
        parameter,
        `${quoted(name)} is no ${what}.${violations.suggestion(name, () => names)} ${all}`
      )
    }
    return one
  })
  return found.every((one) => one !== undefined) ? found : undefined
}

/** A total order: the dimensions that the request does not name come last, in the direction of the last one that it names. */
function parseTotalsOrder(
  params: SortParams | null,
  { dimensions, measures }: Totals,
  violations: Violations
): readonly TotalsSortKey[] {
  const all: readonly (Dimension | Measure)[] = [...dimensions, ...measures]
  const columns = new Map(all.map((one) => [one.name.toLowerCase(), one]))
  const order = { columns, names: () => all.map(({ name }) => name), otherwise: dimensions }
  const named: readonly TotalsSortKey[] = parseOrder(params, order, violations)
  const descending = named.at(-1)?.descending ?? false
  const rest = dimensions.filter((one) => !named.some(({ by }) => by === one))
  return [...named, ...rest.map((by) => ({ by, descending }))]
}
