import type { Checker } from '../../../campaign/checkers/checker.js'
import type { Exchange, Injury } from '../../../campaign/history.js'

/** What a test says of an exchange; the rest follows from it. */
export interface Written {
  readonly id?: string
  readonly workload?: string
  readonly account?: string
  /** `PUT /venues/7`. */
  readonly call: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** When it was sent and when it ended; one after the other where the test does not say. */
  readonly at?: readonly [sentAt: number, endedAt: number]
  /** Absent: the answer was lost. */
  readonly status?: number
  readonly answer?: unknown
  readonly got?: Readonly<Record<string, string>>
}

type Row = Readonly<Record<string, unknown>>

/** The violations that a checker finds in a history and in the rows that are left, by the table that a query names at the start of a line, or else first. */
export async function violationsOf(
  checker: Checker,
  history: readonly (Written | Injury)[],
  tables: Readonly<Record<string, readonly Row[]>> = {}
): Promise<readonly string[]> {
  for (const [n, one] of history.entries()) {
    if ('fault' in one) checker.hurt?.(one)
    else checker.see(exchangeOf(one, n))
  }
  const { tried, violations } = await checker.judge((sql) => {
    const table = (/^\s*FROM (\w+)/m.exec(sql) ?? /\bFROM (\w+)/.exec(sql))?.[1] ?? ''
    const resource = /resource = '([\w-]+)'/.exec(sql)?.[1]
    const rows = tables[table] ?? []
    return Promise.resolve(resource === undefined ? rows : rows.filter((row) => row['resource'] === resource))
  })
  if (tried === 0) throw new Error('The checker had nothing to judge')
  return violations.map(({ what }) => what)
}

/** The n-th exchange of a history, as a checker sees it. */
export function exchangeOf(written: Written, n: number): Exchange {
  const { call, status, answer, got, body, account } = written
  const [method = 'GET', target = '/'] = call.split(' ')
  const id = written.id ?? `r-${n + 1}`
  const [sentAt, endedAt] = written.at ?? [n * 10, n * 10 + 5]
  return {
    id,
    client: 'c-0',
    workload: written.workload ?? 'counters',
    gateway: 0,
    ...(account === undefined ? {} : { account }),
    request: {
      method: method as Exchange['request']['method'],
      target,
      headers: written.headers ?? {},
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    },
    sentAt,
    endedAt,
    ...(status === undefined
      ? { lost: 'ECONNRESET' }
      : {
          answer: {
            status,
            headers: {
              'x-request-id': id,
              'content-type': 'application/json; charset=utf-8',
              'cache-control': 'no-store',
              'api-supported-versions': '1.0',
              ...got
            },
            body: typeof answer === 'string' ? answer : answer === undefined ? '' : JSON.stringify(answer)
          }
        })
  }
}

/** An audit entry as the database has it. */
export function entry(row: string, action: string, requestId: string): Row {
  const [resource, row_id] = row.split('/')
  return { id: 1, resource, row_id, action, request_id: requestId }
}
