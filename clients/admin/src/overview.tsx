import { Box, Table, TableBody, TableCell, TableContainer, TableHead, TableRow, Typography } from '@mui/material'
import { useQuery } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { Title, useDataProvider } from 'react-admin'
import { type Catalogue, type Property, type Resource, type Row, titleOf } from './catalogue.js'
import type { AdminDataProvider } from './owner.js'
import { inWords, valueText } from './words.js'

/** What of a resource can be counted by month, and by one more property that has few values. */
interface Counted {
  readonly resource: Resource
  /** `placedAt` of the dimension `placedAt.month`. */
  readonly moment: string
  readonly group: Property | undefined
}

/** The resources that the overview shows: those with a month among their totals, that the caller may read. */
export function countedByMonth({ resources }: Catalogue): readonly Counted[] {
  return resources.flatMap((resource) => {
    const { allowed, totals, properties } = resource
    const moment = properties.find(
      ({ name, sortable, operators }) =>
        sortable &&
        operators.includes('is on or after') &&
        totals?.dimensions.some((one) => one.name === `${name}.month`) === true
    )
    const isCounted = totals?.measures.some(({ name }) => name === 'count') === true
    const mayRead = ['paged', 'totals'].every((operation) => allowed.includes(operation))
    if (moment === undefined || !isCounted || !mayRead) return []
    const group = totals.dimensions.find(({ type }) => type === 'enum' || type === 'bool')
    return [{ resource, moment: moment.name, group }]
  })
}

/** The first page: how many rows there are of each month. */
export function Overview({ catalogue }: { readonly catalogue: Catalogue }): ReactElement {
  return (
    <Box sx={{ p: 2, contain: 'inline-size' }}>
      <Title title="Overview" />
      {countedByMonth(catalogue).map((counted) => (
        <Months key={counted.resource.name} counted={counted} />
      ))}
    </Box>
  )
}

const MONTHS = 12

/** The months up to the one of a moment, `2026-01`, the oldest first. */
function monthsUpTo(moment: string): readonly string[] {
  const last = new Date(moment)
  return Array.from({ length: MONTHS }, (_, at) =>
    new Date(Date.UTC(last.getUTCFullYear(), last.getUTCMonth() - MONTHS + 1 + at)).toISOString().slice(0, 7)
  )
}

interface Counts {
  readonly months: readonly string[]
  /** The values of the other dimension; one without it. */
  readonly groups: readonly string[]
  readonly countOf: (month: string, group: string) => number
}

/** The counts of the last months in which there is a row, so that the database reads no more than their rows. */
async function readCounts(
  provider: AdminDataProvider,
  { resource: { name }, moment, group }: Counted,
  signal: AbortSignal
): Promise<Counts> {
  const { data: newest } = await provider.getList(name, {
    pagination: { page: 1, perPage: 1 },
    sort: { field: moment, order: 'DESC' },
    meta: { fields: [moment], includeTotal: false },
    signal
  })
  const last = (newest as readonly Row[])[0]?.[moment]
  if (typeof last !== 'string') return { months: [], groups: [], countOf: () => 0 }
  const months = monthsUpTo(last)
  const start = `${months[0]}-01`
  const { data } = await provider.getTotals(name, {
    by: [`${moment}.month`, ...(group === undefined ? [] : [group.name])],
    measures: ['count'],
    filter: { [moment]: { isOnOrAfter: last.includes('T') ? `${start}T00:00:00.000Z` : start } },
    signal
  })
  const counts = new Map<string, number>()
  const found = new Set<string>()
  for (const row of data as readonly Row[]) {
    const value = group === undefined ? 'Rows' : valueText(row[group.name], group.type)
    found.add(value)
    counts.set(`${String(row[`${moment}.month`])} ${value}`, Number(row['count']))
  }
  const words = (group?.words ?? []).filter((word) => found.has(word))
  const groups = [...words, ...[...found].filter((value) => !words.includes(value))]
  return { months, groups, countOf: (month, value) => counts.get(`${month} ${value}`) ?? 0 }
}

function Months({ counted }: { readonly counted: Counted }): ReactElement {
  const { resource, group } = counted
  const provider = useDataProvider<AdminDataProvider>()
  const { data, error } = useQuery({
    queryKey: [resource.name, 'getTotals', 'months'],
    queryFn: ({ signal }) => readCounts(provider, counted, signal)
  })
  const title = `${titleOf(resource)} by month${group === undefined ? '' : ` and ${inWords(group.name).toLowerCase()}`}`
  return (
    <Box component="section" aria-label={title} sx={{ mb: 4 }}>
      <Typography variant="h6" component="h2">
        {title}
      </Typography>
      {error !== null && <Typography role="alert">{error.message}</Typography>}
      {data?.months.length === 0 && <Typography>None</Typography>}
      {data !== undefined && data.months.length > 0 && (
        <>
          <Bars {...data} />
          <CountTable {...data} title={title} />
        </>
      )}
    </Box>
  )
}

/** Each has enough contrast to white and to black (WCAG 2.2, 1.4.11). */
const BARS = ['#1976d2', '#c2571a', '#2e8b57', '#a64ca6', '#7a7a00', '#d81b60', '#00838f']

function colourOf(at: number): string | undefined {
  return BARS[at % BARS.length]
}

const BAR = { width: 28, step: 40, height: 110 }

/** The counts as a picture. The table below says the same, and is what is read aloud. */
function Bars({ months, groups, countOf }: Counts): ReactElement {
  const sums = months.map((month) => groups.reduce((sum, group) => sum + countOf(month, group), 0))
  const most = Math.max(1, ...sums)
  return (
    <Box
      component="svg"
      aria-hidden
      viewBox={`0 0 ${months.length * BAR.step} ${BAR.height + 30}`}
      sx={{ display: 'block', width: '100%', maxWidth: '48rem', color: 'text.primary' }}
    >
      {months.map((month, at) => {
        const left = at * BAR.step + (BAR.step - BAR.width) / 2
        const heights = groups.map((group) => (countOf(month, group) / most) * BAR.height)
        const below = (index: number): number => heights.slice(0, index + 1).reduce((sum, height) => sum + height, 0)
        const text = { x: left + BAR.width / 2, textAnchor: 'middle', fontSize: 9, fill: 'currentColor' } as const
        return (
          <g key={month}>
            {groups.map((group, index) => (
              <rect
                key={group}
                x={left}
                y={BAR.height + 12 - below(index)}
                width={BAR.width}
                height={heights[index]}
                fill={colourOf(index)}
              />
            ))}
            <text {...text} y={BAR.height + 9 - below(groups.length)}>
              {sums[at]}
            </text>
            <text {...text} y={BAR.height + 24}>
              {month}
            </text>
          </g>
        )
      })}
    </Box>
  )
}

function CountTable({ months, groups, countOf, title }: Counts & { readonly title: string }): ReactElement {
  return (
    <TableContainer tabIndex={0} role="group" aria-label={`${title}: table`}>
      <Table size="small">
        <TableHead>
          <TableRow>
            <TableCell>Month</TableCell>
            {groups.map((group, index) => (
              <TableCell key={group} align="right">
                <Box component="svg" aria-hidden viewBox="0 0 1 1" sx={{ width: '0.8em', height: '0.8em', mr: 0.5 }}>
                  <rect width={1} height={1} fill={colourOf(index)} />
                </Box>
                {group}
              </TableCell>
            ))}
          </TableRow>
        </TableHead>
        <TableBody>
          {months.map((month) => (
            <TableRow key={month}>
              <TableCell component="th" scope="row">
                {month}
              </TableCell>
              {groups.map((group) => (
                <TableCell key={group} align="right">
                  {countOf(month, group)}
                </TableCell>
              ))}
            </TableRow>
          ))}
        </TableBody>
      </Table>
    </TableContainer>
  )
}
