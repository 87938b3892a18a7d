import { expect } from 'chai'
import { AllowedAnswers } from '../../../campaign/checkers/answers/answers.js'
import type { Checker } from '../../../campaign/checkers/checker.js'
import { showTo } from '../../../campaign/checkers/tool-calls.js'
import { CreatedOnce } from '../../../campaign/checkers/writes/creates.js'
import { OneChain } from '../../../campaign/checkers/writes/versions.js'
import { venue as venueOf, version } from './counted-venue.js'
import { entry, exchangeOf, type Written } from './written-history.js'

const venue = (n: number) => ({ ...venueOf(n), name: `agents-0.1 #${n}` })

/** A call of a tool; without `told` its answer was lost. */
function tool(name: string, sent: object, told?: object, more: Partial<Written> = {}): Written {
  const params = { name, arguments: { resource: 'venues', ...sent } }
  const isError = told !== undefined && 'code' in told
  const result = { result: { content: [{ type: 'text', text: JSON.stringify(told) }], isError }, jsonrpc: '2.0', id: 1 }
  const answered = {
    status: 200,
    answer: `event: message\ndata: ${JSON.stringify(result)}\n\n`,
    got: { 'content-type': 'text/event-stream' }
  }
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
  const asked = { call: 'POST /mcp', workload: 'agents', account: 'clerk@example.com', body }
  return { ...asked, ...(told === undefined ? {} : answered), ...more }
}

const create = (told?: object): Written =>
  tool('create_row', { values: { name: venue(0).name }, idempotencyKey: 'k-1' }, told)
const update = (from: number, told?: object): Written =>
  tool(
    'update_row',
    { id: 7, rowVersion: version(from), values: { name: venue(from + 1).name, capacity: from + 1 } },
    told
  )
const read = (n: number): Written => tool('get_row', { id: 7 }, { row: venue(n) })
const conflict = { code: 'conflict', detail: 'A data conflict occurred. Please retry or contact support.' }
const done = (n: number, replayed = false) => ({ row: venue(n), replayed, rolledBack: false })

/** The requests r-1 to r-6. */
const story = [create(), create(done(0, true)), read(0), update(0), update(0, conflict), read(1)]
const trail = [entry('venues/7', 'create', 'r-1'), entry('venues/7', 'update', 'r-4')]
const left = (n: number) => [{ id: 7, name: venue(n).name, value: n, version: hexOf(version(n)) }]
const hexOf = (text: string): string => Buffer.from(text, 'base64').toString('hex')

async function found(
  checker: Checker,
  history: readonly Written[],
  entries = trail,
  venues: readonly object[] = left(1)
): Promise<string> {
  for (const [n, one] of history.entries()) showTo([checker], exchangeOf(one, n))
  const tables: Readonly<Record<string, readonly object[]>> = { ur_audit_entries: entries, venues }
  const { violations } = await checker.judge((sql) => {
    const resource = /resource = '([\w-]+)'/.exec(sql)?.[1] ?? 'venues'
    const table = /\bFROM (\w+)/.exec(sql)?.[1] ?? ''
    return Promise.resolve((resource === 'venues' ? (tables[table] ?? []) : []) as Readonly<Record<string, unknown>>[])
  })
  return violations.map(({ what }) => what).join('\n')
}

describe('checkers of calls of tools', () => {
  it('find nothing where calls were sent again, and each was done once on the version that was read', async () => {
    for (const checker of [new CreatedOnce(), new OneChain(), new AllowedAnswers()])
      expect(await found(checker, story), checker.title).to.equal('')
  })

  it('find nothing where an action was done and a row deleted', async () => {
    const remove = tool('delete_row', { id: 7, rowVersion: version(1) }, { deleted: true, rolledBack: false })
    const after = tool('get_row', { id: 7 }, { code: 'not-found', detail: 'There is no such row.' })
    const entries = [...trail, entry('venues/7', 'delete', 'r-7')]
    for (const checker of [new CreatedOnce(), new OneChain(), new AllowedAnswers()])
      expect(await found(checker, [...story, remove, after], entries, []), checker.title).to.equal('')
  })

  const twice = [...trail, entry('venues/8', 'create', 'r-2')]
  it('find a create that was done twice for one key', async () => {
    const history = [create(), create(done(0)), ...story.slice(2)]
    const rows = [...left(1), { ...left(1)[0], id: 8 }]
    expect(await found(new CreatedOnce(), history, twice, rows)).to.match(/r-1 and r-2 have both created rows/)
  })

  it('find a change that was done on a version that another one has left', async () => {
    const history = [...story.slice(0, 4), update(0, done(2))]
    const entries = [...trail, entry('venues/7', 'update', 'r-5')]
    expect(await found(new OneChain(), history, entries, left(2))).to.match(/r-4 and r-5 were both done on the version/)
  })

  it('find a change that was acknowledged and is lost', async () => {
    const history = [...story.slice(0, 3), update(0, done(1))]
    expect(await found(new OneChain(), history, trail.slice(0, 1), left(0))).to.match(/r-4 was acknowledged and has no/)
  })

  const bad: readonly (readonly [what: string, one: Written, says: RegExp])[] = [
    [
      'an error that no right call gets',
      update(0, { code: 'arguments.invalid', detail: 'x' }),
      /is the error arguments/
    ],
    [
      'a detail with words of a database',
      update(0, { code: 'conflict', detail: 'Duplicate entry 7' }),
      /holds words of a database: Duplicate entry/
    ],
    ['an error of the protocol', { ...read(0), answer: { error: { code: -32_603 } } }, /none of a tool/],
    ['a status that no tool has', { ...read(0), status: 500 }, /is 500, and none of a tool/]
  ]
  for (const [what, one, says] of bad) {
    it(`find ${what}`, async () => {
      expect(await found(new AllowedAnswers(), [one])).to.match(says)
    })
  }
})
