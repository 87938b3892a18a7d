import { request } from 'node:http'
import { expect } from 'chai'
import { Random } from '../../faults/fuzz.js'
import { dataSeed, isSoak } from '../../harness/in-soak.js'
import { products } from '../../harness/store-resources.js'
import { loadRows } from '../../oracle/load-rows.js'
import { type ApiStore, describeApi } from '../api-store.js'
import type { Answer } from '../http-call.js'
import { countsIn, CSV, importOf, NDJSON } from './import-requests.js'
import {
  type Body,
  CHUNK,
  contentFaults,
  type Fault,
  type ImportFile,
  type Judged,
  judgeRows,
  keyOf,
  randomFile,
  type Stored
} from './random-import.js'
import { rowIn, send } from './send.js'
import { changesNothing, select } from './stored.js'

const SEED = dataSeed
const FILES = isSoak ? 1500 : 60
/** So many rows make each look at all of them long. */
const MANY = 250

/** Kept parts of a file are forgotten after its answer, and those of the file before may be gone in between. */
const KEPT = { besides: ['ur_idempotency_keys'] }

/** Faults that a problem document tells in any case. */
const FEW = 20

/** How a file is sent. */
interface Sending {
  /** `?onError=skip&by=sku` */
  readonly query: string
  readonly key: string
  readonly random: Random
  /** Of a failed assertion. */
  readonly told: string
}

describeApi(`random files to import, seed ${SEED},`, (store) => {
  it('create the rows that an oracle says, and report its errors, whatever breaks and comes again', async function () {
    this.timeout(1_200_000)
    let stored = await rowsOf(store)
    for (let number = 0; number < FILES; number++) {
      const seed = SEED + number
      const random = new Random(seed)
      const file = randomFile(random)
      const [isSkip, by] = [random.percent(55), random.percent(40)]
      const query = `?onError=${isSkip ? 'skip' : 'stop'}${by ? '&by=sku' : ''}`
      const sending = { query, key: `random-${seed}`, random, told: `file of seed ${seed} with ${query}` }
      if (random.percent(25)) await tryDry(store, file, { stored, told: sending.told })
      if (random.percent(30)) await breakOff(store, file, sending)
      stored = await (isSkip ? importSkipping : importWhole)(store, file, { ...sending, stored, by })
      expect(sorted(await rowsOf(store)), sending.told).to.deep.equal(sorted(stored))
      if (stored.size > MANY) {
        await select(store, "DELETE FROM products WHERE sku LIKE 'RI-%'")
        stored = await rowsOf(store)
      }
    }
  })
})

async function rowsOf(store: ApiStore): Promise<Stored> {
  const rows = await loadRows(store.databaseUrl, products)
  return new Map(rows.map(({ id: _, ...row }) => [keyOf(row['sku'] as string), row as Body]))
}

function sorted(rows: Stored): unknown[] {
  return [...rows].toSorted(([one], [other]) => (one < other ? -1 : 1))
}

type Before = Sending & { readonly stored: Stored; readonly by: boolean }

/** Sends a file that skips wrong rows, mended if it has to be, and again. Returns the rows that must be there. */
async function importSkipping(store: ApiStore, file: ImportFile, before: Before): Promise<Stored> {
  const { stored, by, told, random } = before
  const end = endOf(file)
  if (end !== undefined) {
    expectEnd(await imported(store, file, before), end, told)
    // The parts before it may stay; where they end is nobody's promise.
    const now = sorted(await rowsOf(store))
    const afterParts = Array.from({ length: Math.floor(end.at / CHUNK) + 1 }, (_, parts) =>
      sorted(judgeRows(file.rows.slice(0, parts * CHUNK), stored, by).after)
    )
    expect(afterParts, told).to.deep.include(now)
  }
  const whole = end === undefined ? file : file.mended()
  const judged = judgeRows(whole.rows, stored, by)
  expectCounts(await imported(store, whole, before), judged, { ...before, rows: whole.rows.length })
  if (random.percent(30)) {
    const again = await changesNothing(store, () => imported(store, whole.mended(), before), KEPT)
    expectCounts(again, judged, { ...before, rows: whole.rows.length })
    expect(countsIn(again).created, told).to.equal(0)
  }
  return judged.after
}

/** Sends a file of which nothing stays where a row fails, and again. Returns the rows that must be there. */
async function importWhole(store: ApiStore, file: ImportFile, before: Before): Promise<Stored> {
  const { stored, by, told, random } = before
  const { rows } = file
  const end = endOf(file)
  const faults = faultsOfFirstPart(rows)
  const judged = judgeRows(rows, stored, by)
  if (end === undefined && judged.faults.length === 0) {
    expectCounts(await imported(store, file, before), judged, { ...before, rows: rows.length })
    if (random.percent(30)) {
      const again = await changesNothing(store, () => imported(store, file.mended(), before), KEPT)
      expectCounts(again, judged, { ...before, rows: rows.length })
      expect(countsIn(again).created, told).to.equal(0)
    }
    return judged.after
  }
  const answer = await imported(store, file, before)
  // A part may be rejected before the end of the file has come.
  if (end !== undefined && (faults.length === 0 || codeOf(answer) !== 'body.invalid')) expectEnd(answer, end, told)
  else expectRejection(answer, faults.length > 0 ? faults : judged.faults.slice(0, 1), { told })
  return stored
}

/** Tries what there is to try without a write: a batch of the same rows, which reports the errors of the file that stops. */
async function tryDry(
  store: ApiStore,
  file: ImportFile,
  { stored, told }: { readonly stored: Stored; readonly told: string }
): Promise<void> {
  const headers = { prefer: 'tx=rollback' }
  const type = file.format === 'csv' ? CSV : NDJSON
  const refused = await changesNothing(
    store,
    () => importOf(store, file.bytes, { type, headers: { ...headers, 'content-type': type } }),
    KEPT
  )
  store.problem(refused, { status: 400, code: 'request.malformed', says: 'cannot be tried' })
  const bodies = file.rows.flatMap((row) => (row.is === 'body' ? [row.body] : []))
  if (bodies.length === 0 || bodies.length > CHUNK) return
  const rows = bodies.map((body) => ({ is: 'body', body }) as const)
  const judged = judgeRows(rows, stored, false)
  const answer = await changesNothing(
    store,
    async () => {
      for (;;) {
        const sent = await send(store, 'clerk POST /products/batch', { body: JSON.stringify(bodies), headers })
        if (sent.status !== 503) return sent
      }
    },
    KEPT
  )
  const faults = faultsOfFirstPart(rows)
  if (judged.faults.length > 0)
    expectRejection(answer, faults.length > 0 ? faults : judged.faults.slice(0, 1), { told, isBatch: true })
  else expect(answer.status, `${told}: ${answer.text.slice(0, 500)}`).to.equal(201)
}

/** Sends the beginning of a file and breaks the connection off. */
async function breakOff(
  store: ApiStore,
  { format, bytes }: ImportFile,
  { query, key, random }: Sending
): Promise<void> {
  const token = await store.stack.token('clerk@example.com')
  const sent = request(`${store.url}/products/import${query}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': format === 'csv' ? CSV : NDJSON,
      'idempotency-key': key,
      'content-length': bytes.length
    }
  })
  sent.on('error', () => undefined)
  const closed = new Promise((resolve) => sent.once('close', resolve))
  const cut = random.below(bytes.length + 1)
  await new Promise<void>((resolve) => sent.write(bytes.subarray(0, cut), () => resolve()))
  sent.destroy()
  await closed
}

/** The same request, sent until it is not told to come back. */
async function imported(store: ApiStore, { format, bytes }: ImportFile, { query, key }: Sending): Promise<Answer> {
  for (;;) {
    const answer = await importOf(store, bytes, { query, key, type: format === 'csv' ? CSV : NDJSON })
    if (codeOf(answer) !== 'idempotency.in-flight' && answer.status !== 503) return answer
  }
}

function codeOf(answer: Answer): unknown {
  return rowIn(answer)['code']
}

function endOf({ rows }: ImportFile): { readonly at: number; readonly code: string } | undefined {
  const at = rows.findIndex(({ is }) => is === 'end')
  const end = rows[at]
  return end?.is === 'end' ? { at, code: end.code } : undefined
}

/** What is wrong with the content of the first part that has such a row. */
function faultsOfFirstPart(rows: ImportFile['rows']): readonly Fault[] {
  const faults = rows.flatMap((row, index) => (row.is === 'end' ? [] : contentFaults(row, index)))
  const part = Math.floor(((faults[0]?.row ?? 1) - 1) / CHUNK)
  return faults.filter(({ row }) => Math.floor((row - 1) / CHUNK) === part)
}

const inOrder = (texts: readonly (string | undefined)[]): unknown[] =>
  texts.map(String).toSorted((one, other) => (one < other ? -1 : 1))

function expectEnd(answer: Answer, { at, code }: { readonly at: number; readonly code: string }, told: string): void {
  expect(answer.status, `${told}: ${answer.text.slice(0, 500)}`).to.equal(code === 'body.too-large' ? 413 : 400)
  expect(codeOf(answer), told).to.equal(code)
  expect(String(rowIn(answer)['detail']), told).to.contain(`Row ${at + 1} `)
}

/** Of a file or a batch of which nothing stays: the places count from 0. */
function expectRejection(
  answer: Answer,
  faults: readonly Fault[],
  { told, isBatch = false }: { readonly told: string; readonly isBatch?: boolean }
): void {
  const isConflict = faults[0]?.code === 'conflict'
  expect(answer.status, `${told}: ${answer.text.slice(0, 500)}`).to.equal(isConflict ? 409 : 400)
  const { code, errors } = JSON.parse(answer.text) as {
    readonly code: string
    readonly errors?: readonly { readonly pointer: string }[]
  }
  expect(code, told).to.equal(faults[0]?.code)
  // A conflict of a batch of creates names no place.
  if (errors === undefined && isConflict && isBatch) return
  expect(errors, told).to.be.an('array')
  const places = faults.map(({ row, pointer }) => `/${row - 1}${isConflict ? '' : pointer}`)
  const named = (errors ?? []).map(({ pointer }) => pointer)
  // A status of gRPC has room for so many at least.
  if (faults.length <= FEW) expect(inOrder(named), told).to.deep.equal(inOrder(places))
  else expect(places, told).to.include.members(named.slice(0, FEW))
}

function expectCounts(
  answer: Answer,
  { created, existing, failed, faults, ignored }: Judged,
  { by, told, rows }: Before & { readonly rows: number }
): void {
  expect(answer.status, `${told}: ${answer.text.slice(0, 500)}`).to.equal(200)
  const counts = countsIn(answer)
  expect([counts.rows, counts.created + counts.replayed, counts.existing, counts.failed], told).to.deep.equal([
    rows,
    created,
    by ? existing : undefined,
    failed
  ])
  const named = counts.errors.map(({ row, code, pointer }) => `${row} ${code} ${pointer}`)
  const expected = faults.map(({ row, code, pointer }) => `${row} ${code} ${pointer}`)
  expect(inOrder(named), told).to.deep.equal(inOrder(expected))
  const names = String(answer.headers['x-ignored-parameters'] ?? '').split(',')
  expect(inOrder(names.filter((name) => name !== '')), told).to.deep.equal(
    inOrder([...ignored].map((name) => `body.${name}`))
  )
}
