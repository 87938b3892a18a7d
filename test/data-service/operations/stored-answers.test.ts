import { randomBytes } from 'node:crypto'
import { expect } from 'chai'
import { everyone } from '../../../data-service/entity/access.js'
import { defineEntity } from '../../../data-service/entity/define-entity.js'
import type { KeyedEntity } from '../../../data-service/entity/entity.js'
import {
  dateTime,
  decimal,
  hidden,
  int,
  optional,
  readOnly,
  text,
  writeOnly
} from '../../../data-service/entity/fields/words.js'
import { firstRowVersion, nextRowVersion, type RowVersion } from '../../../data-service/entity/fields/row-version.js'
import type { Value } from '../../../data-service/entity/fields/field.js'
import type { RowsWanted, RowTest } from '../../../data-service/entity/row-predicate.js'
import { encodeAnswer, storedAnswer } from '../../../data-service/operations/writes/stored-answers.js'
import type { WriteScope } from '../../../data-service/plan/model/plans.js'
import type { StoredRow } from '../../../data-service/plan/model/stores.js'
import { scopeOf } from '../../../data-service/plan/row-scopes.js'
import { DomainError } from '../../../shared/errors.js'

const parts = {
  description: 'Rows whose scope looks at the clock, at a bound of the caller, or at a column that nobody sees.',
  fields: {
    id: readOnly(int()),
    endsAt: dateTime(),
    price: decimal(10, 2),
    text: text(20),
    tenant: hidden(optional(text(20)))
  },
  label: 'text',
  filterable: ['id', 'endsAt', 'price', 'text'],
  sortable: ['id'],
  access: { read: everyone }
} as const
const slots = defineEntity({ ...parts, name: 'slots' })
const notes = defineEntity({ ...parts, name: 'notes', rowVersion: 'none' })
const secrets = defineEntity({
  ...parts,
  name: 'secrets',
  rowVersion: 'none',
  fields: { ...parts.fields, endsAt: writeOnly(dateTime()) },
  filterable: ['id']
})

const caller = {
  kind: 'authenticated',
  issuer: 'https://issuer.example',
  subject: 's',
  roles: [],
  permissions: new Set<string>(),
  owner: null,
  claims: {}
} as const
const fingerprint = Buffer.alloc(32)
const claim = { keyHash: fingerprint, fingerprint, now: 0, expiresAt: 1 }
const version = firstRowVersion(randomBytes)

/**
 * Tries again under another scope than that of the first request. Answers the code of the rejection, `replayed` for the same
 * bytes, or the other bytes. `row` has the key of the first row now. `claims` are those of now.
 */
async function retry(
  entity: KeyedEntity,
  scope: RowsWanted,
  { row, claims = { team: 'another' } }: { readonly row?: Partial<StoredRow>; readonly claims?: object } = {}
): Promise<string> {
  const told = {
    id: 1,
    endsAt: '2026-06-01T08:00:00.000Z',
    price: '10.50',
    text: 'one',
    rowVersion: version.toString('base64')
  }
  const { rowVersion: _, ...unversioned } = told
  const record = entity === slots ? told : unversioned
  const response = {
    json: Buffer.from(JSON.stringify(record)),
    rowVersion: version,
    id: '1',
    ignored: [],
    location: ''
  }
  const parsed = (shown: RowsWanted, claimed: object) => {
    const rows = scopeOf(shown, entity)
    // authorize.ts alone brands scopes.
    const decided = { before: rows, after: rows, shown: rows } as unknown as WriteScope
    return {
      key: 'k',
      canonicalBody: '',
      ignored: [],
      dryRun: false,
      writer: { caller: { ...caller, claims: { ...claimed } }, decided },
      resource: { withheld: new Set<string>(), entity, properties: new Map() }
    }
  }
  const answer = encodeAnswer(response, parsed({ property: 'id', operator: 'equals', operands: [1] }, { exp: 1 }))
  const look = async () => (row === undefined ? undefined : { values: new Map(), version: undefined, ...row })
  try {
    const { json } = await storedAnswer({ fingerprint, answer }, { claim, unit: { look } }, parsed(scope, claims))
    return json.equals(response.json) ? 'replayed' : json.toString()
  } catch (error) {
    if (error instanceof DomainError) return error.code
    throw error
  }
}

const where = (property: string, operator: string, ...operands: readonly unknown[]): RowTest => ({
  property,
  operator,
  operands
})

describe('a stored answer of a row that is gone', () => {
  it('What it told of moments and decimals is compared with the scope of now.', async () => {
    const inside = [
      where('endsAt', 'is after', '2026-06-01T07:59:59.999Z'),
      where('endsAt', 'is', '2026-06-01T08:00:00.000Z'),
      where('price', 'less than or equal', '10.5'),
      where('price', 'between', '10.49', '10.50'),
      where('price', 'in', ['1.00', '10.50'])
    ]
    const outside = [
      where('endsAt', 'is after', '2026-06-01T08:00:00.000Z'),
      where('price', 'less than', '10.5'),
      where('price', 'equals', '9.90')
    ]
    for (const scope of inside) expect(await retry(slots, scope), JSON.stringify(scope)).to.equal('replayed')
    for (const scope of outside) expect(await retry(slots, scope), JSON.stringify(scope)).to.equal('ownership.denied')
  })

  it('Where that cannot tell, a caller with other claims needs the row in its scope, in the version that was told.', async () => {
    const scope = where('tenant', 'equals', 'b')
    const row = (stored: RowVersion | undefined) => ({ row: { version: stored } })
    expect(await retry(slots, scope)).to.equal('ownership.denied')
    expect(await retry(slots, scope, row(firstRowVersion(randomBytes)))).to.equal('ownership.denied')
    expect(await retry(slots, scope, row(nextRowVersion(version)))).to.equal('ownership.denied')
    expect(await retry(slots, scope, row(version))).to.equal('replayed')
    expect(await retry(notes, scope, row(undefined))).to.equal('ownership.denied')
  })

  it('Where that cannot tell, a caller whose claims are the same gets it again, unless the time has passed.', async () => {
    const sentLater = { claims: { exp: 2 } }
    const until = (endsAt: string): RowsWanted => ({
      allOf: [where('tenant', 'equals', 'b'), where('endsAt', 'is after', endsAt)]
    })
    expect(await retry(slots, until('2026-05-01T00:00:00Z'), sentLater)).to.equal('replayed')
    expect(await retry(notes, until('2026-05-01T00:00:00Z'), sentLater)).to.equal('replayed')
    expect(await retry(slots, until('2026-07-01T00:00:00Z'), sentLater)).to.equal('ownership.denied')
  })

  it('A row without a version shows it where all that was told is as it was: nothing else is told then.', async () => {
    const scope = where('tenant', 'equals', 'b')
    const values = new Map<string, Value>([
      ['id', 1],
      ['endsAt', '2026-06-01T08:00:00.000Z'],
      ['price', '10.50'],
      ['text', 'one'],
      ['tenant', 'b']
    ])
    expect(await retry(notes, scope, { row: { values } })).to.equal('replayed')
    expect(await retry(notes, scope, { row: { values: new Map([...values, ['text', 'another']]) } })).to.equal(
      'ownership.denied'
    )
    const row = { values, version: firstRowVersion(randomBytes) }
    expect(await retry(slots, scope, { row })).to.equal('ownership.denied')
  })

  it('A column that has become a secret since is not told again.', async () => {
    expect(await retry(secrets, where('id', 'equals', 1))).to.equal('{"id":1,"price":"10.50","text":"one"}')
  })
})
