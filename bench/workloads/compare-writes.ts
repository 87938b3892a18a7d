import type { ProductVersion, WriteLedger, Written } from '../database/write-ledger.js'
import { type Answer, ask, firstDifference } from './compare-answers.js'
import type { Answering } from './workload.js'

/** How many rows are written by every target before anything is measured. */
export const ROWS_COMPARED = 10

export interface ComparedWrite {
  readonly path: string
  readonly method: 'POST' | 'PUT'
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/**
 * Has every target write the same, one after the other, and throws unless it answers the same but for ids, versions and
 * keys, and leaves the same behind.
 *
 * @returns how many answers were compared for each target
 */
export async function compareWrites(
  targets: readonly Answering[],
  { token, ledger }: { readonly token: string; readonly ledger: WriteLedger },
  writes: (target: string, rows: readonly ProductVersion[]) => readonly ComparedWrite[]
): Promise<number> {
  const [first, ...others] = targets
  if (first === undefined) return 0
  const run = async ({ name, origin }: Answering): Promise<Outcome> => {
    const mark = await ledger.mark()
    const answers: Answer[] = []
    const sent = writes(name, await ledger.versions(ROWS_COMPARED))
    for (const write of [...sent.slice(0, 1).map((one) => forged(one, token)), ...sent]) {
      answers.push(await send(origin, token, write))
    }
    const left = anonymous(await ledger.since(mark))
    await ledger.forgetProducts(mark)
    return { answers, left }
  }
  const expected = await run(first)
  const [rejected, ...accepted] = expected.answers
  if (rejected?.status !== 401) throw new Error(`${first.name} takes a forged token.`)
  if (accepted.filter(({ status }) => status < 300).length < ROWS_COMPARED)
    throw new Error(`${first.name} rejects writes.`)
  for (const other of others) {
    const found = await run(other)
    for (const [index, answer] of expected.answers.entries()) {
      const difference = firstDifference(answer, found.answers[index] ?? NO_ANSWER)
      if (difference !== undefined) throw new Error(`${first.name} and ${other.name} write differently: ${difference}`)
    }
    if (found.left !== expected.left) {
      throw new Error(`${first.name} and ${other.name} leave something else behind:\n${expected.left}\n\n${found.left}`)
    }
  }
  return expected.answers.length
}

const NO_ANSWER: Answer = { status: 0, headers: '', body: Buffer.of(), cursor: undefined }

interface Outcome {
  readonly answers: readonly Answer[]
  readonly left: string
}

/** With a signature that is none, since whoever checks none does less work. */
function forged(write: ComparedWrite, token: string): ComparedWrite {
  const authorization = `Bearer ${token.replace(/[^.]+$/, 'A'.repeat(86))}`
  return { ...write, headers: { ...write.headers, authorization } }
}

/** Members that only callers who may write products read, and that no other target has. */
const STAFF_MEMBERS = /"(?:costPrice|reorderLevel|margin)":null,/g

/**
 * The answer with its id and version made nameless wherever they stand, and without the members of the staff; of a
 * rejection no more than its status.
 */
async function send(origin: string, token: string, { path, method, headers, body }: ComparedWrite): Promise<Answer> {
  const lines = Object.entries({ authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers })
  const { status, ...answer } = await ask(origin, path, { method, body, headers: lines.map((line) => line.join(':')) })
  if (status >= 500)
    throw new Error(`${origin} answers ${status} to ${method} ${path}: ${answer.body.toString('utf8')}`)
  if (status >= 300) return { ...NO_ANSWER, status }
  const text = answer.body.toString('utf8')
  const { id, rowVersion } = JSON.parse(text) as { id: number; rowVersion: string } // products have them
  return {
    ...answer,
    status,
    headers: answer.headers
      .replace(`content-length: ${answer.body.length}`, 'content-length: <length>')
      .replace(new RegExp(`/products/${id}$`, 'm'), '/products/<id>')
      .replace(rowVersion, '<version>'),
    body: Buffer.from(
      text.replace(`"id":${id},`, '"id":<id>,').replace(rowVersion, '<version>').replace(STAFF_MEMBERS, '')
    )
  }
}

/** What was written, without the ids of new rows. */
function anonymous({ products, keys, entries }: Written): string {
  const known = entries.map(({ rowId, action, ...entry }) => ({
    ...entry,
    action,
    rowId: action === 'create' ? '' : rowId
  }))
  return JSON.stringify(
    { products, keys, entries: known.toSorted((a, b) => Number(a.rowId) - Number(b.rowId)) },
    null,
    1
  )
}
