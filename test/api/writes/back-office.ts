import { expect } from 'chai'
import type { ApiStore } from '../api-store.js'
import type { Answer } from '../http-call.js'
import { etagOf, rowIn, send } from './send.js'
import { count } from './stored.js'

type Row = Readonly<Record<string, unknown>>

interface Actor {
  /** Sample account that writes. */
  readonly account: string
  /** The row's by-id path. */
  readonly path: string
}

/** A row that was just created, with the tag that the next write needs. */
export async function created(
  store: ApiStore,
  { account, resource, body }: { readonly account: string; readonly resource: string; readonly body: object }
): Promise<Answer> {
  const answer = await send(store, `${account} POST /${resource}`, { body })
  expect(answer.status, answer.text).to.equal(201)
  return answer
}

/** Does an action, which must succeed, and answers the next row as it is read. */
export async function did(
  store: ApiStore,
  { account, path }: Actor,
  action: { readonly name: string; readonly body?: object }
): Promise<Row> {
  const before = await store.as('admin', path)
  const answer = await act(store, { account, path }, { ...action, ifMatch: etagOf(before) })
  expect(answer.status, answer.text).to.equal(200)
  expect(answer.bytes).to.deep.equal((await store.as('admin', path)).bytes)
  expect(etagOf(answer)).not.to.equal(etagOf(before))
  return rowIn(answer)
}

/** An action that must be rejected: nothing of the row, its lines and the trail of writes changes. */
export async function rejected(
  store: ApiStore,
  { account, path }: Actor,
  action: { readonly name: string; readonly body?: object }
): Promise<Answer> {
  const whole = `${path}?includeChildren=true`
  const before = await store.as('admin', whole)
  const entries = await count(store, 'ur_audit_entries')
  const answer = await act(store, { account, path }, { ...action, ifMatch: etagOf(before) })
  expect((await store.as('admin', whole)).text).to.equal(before.text)
  expect(await count(store, 'ur_audit_entries')).to.equal(entries)
  return answer
}

export async function linesOf(store: ApiStore, path: string): Promise<readonly Row[]> {
  // The shape is checked by the tests that read the members.
  return rowIn(await store.as('admin', `${path}?includeChildren=true`))['lines'] as Row[]
}

function act(
  store: ApiStore,
  { account, path }: Actor,
  { name, body, ifMatch }: { readonly name: string; readonly body?: object; readonly ifMatch: string }
): Promise<Answer> {
  return send(store, `${account} PUT ${path}/${name}`, { ...(body && { body }), ifMatch })
}
