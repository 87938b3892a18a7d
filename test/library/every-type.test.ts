import { setTimeout } from 'node:timers/promises'
import { default as addFormats } from 'ajv-formats'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'chai'
import { isSoak } from '../harness/in-soak.js'
import { expectProblem } from '../api/expect-problem.js'
import { type Answer, filter, ids, json } from '../api/http-call.js'
import type { DatabaseKind } from '../stack/databases.js'
import { describeLibrary, type LibraryStore } from './describe-library.js'

const LIBRARIAN = { role: 'Librarian', sub: 'x' }
const BODY = { 'content-type': 'application/json' }

/** contract.md section 3, with the awkward values of each type. Members whose text matters are written out below. */
const READING = {
  meterId: '1',
  readOn: '2024-02-29',
  checkedOn: null,
  readAt: '23:59:59',
  startedAt: '00:00:00.001',
  madeIn: 1901,
  amount: 0.1,
  deviation: null,
  share: 1.1,
  kind: "north's heat",
  state: null,
  rank: -128,
  floor: 255,
  depth: 32767,
  height: 16_777_215,
  pulses: 4_294_967_295,
  isSealed: false,
  flags: 4095,
  wideFlags: '1099511627775',
  notedAt: '2024-02-29T12:00:00.000Z',
  labels: [],
  remarks: null,
  details: { made: 1 },
  notes: null,
  proof: '',
  digest: null,
  photo: null,
  story: '',
  essay: null
}

let made = 0

/** The body of a create. `texts` are members as they stand in it, for what JavaScript would write otherwise. */
function reading(more: object = {}, texts: Readonly<Record<string, string>> = {}): string {
  made += 1
  const unique = { serial: String(2n ** 64n - BigInt(made)), measuredAt: `2024-02-29T12:00:00.${100_000 + made}Z` }
  const members = Object.entries({ ...READING, ...unique, ...more })
    .filter(([name]) => !Object.hasOwn(texts, name))
    .map(([name, value]): [string, string] => [name, JSON.stringify(value)])
  return `{${[...members, ...Object.entries(texts)].map(([name, text]) => `"${name}":${text}`).join()}}`
}

describeLibrary('every type of columns', (store, kind) => {
  const send = (method: string, target: string, body: string, headers: object = {}) =>
    store.as(LIBRARIAN, target, { method, headers: { ...BODY, ...headers }, body })
  const create = (more: object, texts: Readonly<Record<string, string>> = {}) =>
    send('POST', '/readings', reading(more, texts))
  const page = (query: string) => store.as(LIBRARIAN, `/readings/paged?${query}`)
  /** The text of a member in an answer. */
  const member = ({ text }: Answer, name: string): string | undefined =>
    new RegExp(`"${name}":((?:"(?:[^"\\\\]|\\\\.)*"|\\{.*?\\}|\\[.*?\\]|[^,}]+))[,}]`).exec(text)?.[1]

  before(async () => {
    const meter = { name: 'Main', kind: 'gas', installedOn: '1999-12-31', factor: -0.5, labels: ['Büro'], plan: null }
    const answer = await send('POST', '/meters', JSON.stringify({ ...meter, photo: null }))
    expect(answer.status, answer.text).to.equal(201)
  })

  it('change in batches as long as all rows of the answer have 3 MiB together', async () => {
    const made: { id: number; rowVersion: string }[] = []
    for (const _ of [1, 2]) {
      const answer = await send('POST', '/readings/batch', `[${Array.from({ length: 25 }, () => reading()).join()}]`)
      expect(answer.status, answer.text).to.equal(201)
      made.push(...(json(answer) as typeof made))
    }
    const own = `id BETWEEN ${String(made[0]?.id)} AND ${String(made.at(-1)?.id)}`
    await store.sql.run(`UPDATE readings SET story = ? WHERE ${own}`, ['x'.repeat(65_000)])
    const patch = (rows: typeof made) =>
      send('PATCH', '/readings/batch', JSON.stringify(rows.map(({ id, rowVersion }) => ({ id, rowVersion }))), {
        'content-type': 'application/merge-patch+json'
      })
    const answer = await patch(made)
    expectProblem(answer, { base: store.stack.url, status: 400, code: 'body.invalid' })
    expect((json(answer) as { errors: unknown[] }).errors)
      .to.have.lengthOf(1)
      .and.have.nested.property('[0].pointer', '')
    // Nothing was changed: the versions are those that were made.
    expect((await patch(made.slice(0, 45))).status).to.equal(200)
    await store.sql.run(`DELETE FROM readings WHERE ${own}`)
  })

  it('keeps states in a column of words: the state is a condition of the UPDATE and the DELETE', async () => {
    const meter = { name: 'State', kind: 'water', installedOn: '1999-12-31', factor: 1 }
    const made = await send('POST', '/meters', JSON.stringify(meter))
    expect(made.status, made.text).to.equal(201)
    const target = `/meters/${(json(made) as { id: string }).id}`
    const act = (name: string, body: object, of: Answer): Promise<Answer> =>
      send('PUT', `${target}/${name}`, JSON.stringify(body), { 'if-match': of.headers.etag })
    const wet = await act('electrify', {}, made)
    expect([wet.status, (json(wet) as { code: string }).code]).to.deep.equal([422, 'state.invalid'])
    expect((json(wet) as { detail: string }).detail).to.equal(
      "The meter is water; electrify needs it to be gas or north's heat."
    )
    const put = await send('PUT', target, JSON.stringify({ ...meter, kind: "north's heat" }), {
      'if-match': made.headers.etag
    })
    const electric = await act('electrify', {}, put)
    expect([electric.status, (json(electric) as { kind: string }).kind]).to.deep.equal([200, 'Electricity'])
    const kept = await store.as(LIBRARIAN, target, { method: 'DELETE' })
    expect([kept.status, (json(kept) as { code: string }).code]).to.deep.equal([422, 'state.invalid'])
    expect((json(kept) as { detail: string }).detail).to.equal(
      "The meter is Electricity; delete needs it to be water or gas or north's heat."
    )
    const converted = await act('convert', { isWet: true }, electric)
    expect([converted.status, (json(converted) as { kind: string }).kind]).to.deep.equal([200, 'water'])
    expect((await store.as(LIBRARIAN, target, { method: 'DELETE' })).status).to.equal(204)
  })

  it('answers what was sent, in every read and after a PUT of what was answered', async () => {
    const texts: Readonly<Record<string, string>> = {
      amount: '5e-324',
      deviation: '1.7976931348623157e+308',
      share: '3.4028235e+38',
      measuredAt: '"0001-01-01T00:00:00.000001Z"',
      readOn: '"0001-01-01"',
      checkedOn: '"9999-12-31"',
      serial: '"18446744073709551615"',
      state: '"closed"',
      labels: '["new","tenant\'s","Büro"]',
      remarks: '[]',
      details: '{"made":1.0,"big":12345678901234567890.10,"deep":[{"2":"b","1":[]}],"text":"é\\"\\u0000\\ud800"}',
      notes: '[1e400,-0,"",null]',
      proof: '"AP//AA=="',
      digest: '"AAECAwQFBgcICQoLDA0ODw=="',
      story: '"ÄÖ\\"\\\\"'
    }
    const body = reading({}, texts)
    const created = await send('POST', '/readings', body)
    expect(created.status, created.text).to.equal(201)
    const { id } = json(created) as { id: number }
    const read = await store.as(LIBRARIAN, `/readings/${id}`)
    const put = await send('PUT', `/readings/${id}`, body, { 'if-match': created.headers.etag })
    expect(put.status, put.text).to.equal(200)
    const listed = await page(filter('id', 'eq', String(id)))
    for (const answer of [created, read, put, listed]) {
      for (const [name, text] of Object.entries(texts)) {
        // Objects have the order in which JavaScript keeps their members: whole numbers first.
        const expected = name === 'details' ? text.replace('{"2":"b","1":[]}', '{"1":[],"2":"b"}') : text
        expect(answer.text, name).to.include(`"${name}":${expected}`)
      }
      const all = json(answer) as object
      const row = Array.isArray(all) ? (all[0] as object) : all
      const plain = ['readAt', 'startedAt', 'madeIn', 'rank', 'floor', 'depth', 'height', 'pulses', 'isSealed', 'flags']
      for (const name of [...plain, 'wideFlags', 'notedAt', 'kind'] as (keyof typeof READING)[]) {
        expect(row, name).to.have.property(name, READING[name])
      }
      expect(row).to.deep.include({ meterKind: 'gas', meterInstalledOn: '1999-12-31', meterFactor: -0.5 })
      expect(row).to.deep.include({ meterLabels: ['Büro'], meterPlan: null, proofBytes: 'AP//AA==', labelCount: 3 })
    }
  })

  it('takes other spellings of the same value, and answers one', async () => {
    const cases: readonly (readonly [name: string, sent: string, answered: string])[] = [
      ['amount', '1.50', '1.5'],
      ['amount', '0.10000000000000001', '0.1'],
      ['amount', '1E2', '100'],
      ['amount', '-0.0', '0'],
      ['amount', '1e-20', '1e-20'],
      ['share', '1.10000002', '1.1'],
      ['share', '16777216', '16777216'],
      ['pulses', '4294967295.0', '4294967295'],
      ['labels', '["Büro","new"]', '["new","Büro"]'],
      ['startedAt', '"08:00:00"', '"08:00:00.000"'],
      ['startedAt', '"08:00:00.1000"', '"08:00:00.100"'],
      ['readAt', '"08:00:00.000"', '"08:00:00"'],
      ['notedAt', '"2024-03-01T01:00:00+02:00"', '"2024-02-29T23:00:00.000Z"'],
      ['details', '{ "made" : 7.0 }', '{"made":7.0}'],
      ['notes', '"text"', '"text"'],
      ['notes', 'false', 'false']
    ]
    for (const [name, sent, answered] of cases) {
      const answer = await create({}, { [name]: sent })
      expect(answer.status, `${name} ${sent}: ${answer.text}`).to.equal(201)
      expect(member(answer, name), `${name} ${sent}`).to.equal(answered)
    }
  })

  it('rejects each value that the column cannot hold as it is', async () => {
    const cases: readonly (readonly [name: string, sent: unknown, says: string])[] = [
      ['readOn', '2023-02-29', 'readOn must be a date such as "2026-01-31".'],
      ['readOn', '0000-00-00', 'readOn must be a date such as "2026-01-31".'],
      ['readOn', '2024-02-29T00:00:00Z', 'readOn must be a date such as "2026-01-31".'],
      ['readAt', '24:00:00', 'readAt must be a time of the day such as "08:00:00".'],
      ['readAt', '-01:00:00', 'readAt must be a time of the day such as "08:00:00".'],
      ['readAt', '08:00', 'readAt must be a time of the day such as "08:00:00".'],
      ['readAt', '08:00:00.5', 'readAt must have no fraction of a second.'],
      ['startedAt', '08:00:00.0001', 'startedAt must be a time of the day such as "08:00:00".'],
      ['notedAt', '2024-01-01T00:00:00.5Z', 'notedAt must have no fraction of a second.'],
      ['measuredAt', '2024-01-01T00:00:00.0000001Z', 'measuredAt must be a date and time'],
      ['madeIn', 1900, 'madeIn must be a whole number from 1901 to 2155.'],
      ['madeIn', 0, 'madeIn must be a whole number from 1901 to 2155.'],
      ['amount', '1.5', 'amount must be a JSON number that a double can hold (IEEE 754).'],
      ['share', 16_777_217, 'share must be a JSON number that 32 bits can hold (IEEE 754).'],
      ['share', 0.123456789123, 'share must be a JSON number that 32 bits can hold (IEEE 754).'],
      ['deviation', -1.1e300, 'deviation must be at least -1e+300.'],
      ['kind', 'GAS', "kind must be one of water, gas, north's heat, Electricity."],
      ['kind', '', "kind must be one of water, gas, north's heat, Electricity."],
      ['rank', 128, 'rank must be a whole number from -128 to 127.'],
      ['floor', -1, 'floor must be a whole number from 0 to 255.'],
      ['pulses', 4_294_967_296, 'pulses must be a whole number from 0 to 4294967295.'],
      ['serial', '18446744073709551616', 'serial must be a whole number from 0 to 18446744073709551615.'],
      ['serial', '-1', 'serial must be a whole number from 0 to 18446744073709551615.'],
      ['isSealed', 1, 'isSealed must be true or false.'],
      ['flags', 4096, 'flags must be a whole number from 0 to 4095.'],
      ['wideFlags', '1099511627776', 'wideFlags must be a whole number from 0 to 1099511627775.'],
      ['labels', ['New'], "labels must be an array of new, hard to reach, tenant's, Büro, each at most once."],
      ['labels', ['new', 'new'], "labels must be an array of new, hard to reach, tenant's, Büro, each at most once."],
      ['labels', 'new', "labels must be an array of new, hard to reach, tenant's, Büro, each at most once."],
      ['details', {}, "details must have required property 'made'."],
      ['details', { made: -1 }, 'details must meet its schema: /made must be >= 0.'],
      ['details', null, 'details must not be null.'],
      ['proof', 'AP//AA', 'proof must be a string of padded base64.'],
      ['proof', Buffer.alloc(65).toString('base64'), 'proof must have at most 64 bytes.'],
      ['digest', 'AAAA', 'digest must have 16 bytes.'],
      ['story', 'ä'.repeat(32_768), 'story must have at most 65535 bytes in UTF-8.']
    ]
    for (const [name, sent, says] of cases) {
      expectProblem(await create({ [name]: sent }), {
        status: 400,
        code: 'body.invalid',
        base: store.stack.url,
        violations: [{ code: 'body.invalid', pointer: `/${name}`, says }]
      })
    }
    for (const digits of ['9007199254740993', '1e400', '1e-400', '0.1000000000000000055']) {
      const answer = await create({}, { amount: digits })
      expect([answer.status, answer.text.includes('amount must be a JSON number')], digits).to.deep.equal([400, true])
    }
  })

  it('filters by what each type has', async () => {
    const rows = [
      { readOn: '2001-01-01', readAt: '01:00:00', startedAt: '01:00:00.250', amount: 1.25, share: 0.1, kind: 'water' },
      { readOn: '2001-01-02', readAt: '02:00:00', startedAt: null, amount: -1e21, share: null, kind: 'gas' },
      {
        readOn: '2001-01-03',
        readAt: '03:00:00',
        startedAt: '03:00:00.000',
        amount: 2,
        share: 0.3,
        kind: 'Electricity'
      }
    ]
    const more = [
      { labels: ['new'], serial: '9223372036854775808', pulses: 4_000_000_000, wideFlags: '1099511627775' },
      { labels: ['new', 'Büro'], serial: '18446744073709550000', pulses: 1, wideFlags: '1', notes: { a: 1 } },
      { labels: [], serial: '5', pulses: 2, wideFlags: null, proof: 'AA==' }
    ]
    const made: unknown[] = []
    for (const [at, row] of rows.entries()) {
      const answer = await create({ ...row, ...more[at], madeIn: 2100 })
      expect(answer.status, answer.text).to.equal(201)
      made.push((json(answer) as { id: unknown }).id)
    }
    const found = async (property: string, operator: string, value: string): Promise<number[]> => {
      const answer = await page(`${filter('madeIn', 'eq', '2100')}&${filter(property, operator, value)}`)
      return ids(answer).map((id) => made.indexOf(id))
    }
    expect(await found('readOn', 'is', '2001-01-02')).to.deep.equal([1])
    expect(await found('readOn', 'between', '2001-01-02,2001-01-03')).to.deep.equal([1, 2])
    expect(await found('readOn', 'is not', '2001-01-02')).to.deep.equal([0, 2])
    expect(await found('readAt', 'isOnOrAfter', '01:30:00.5')).to.deep.equal([1, 2])
    expect(await found('readAt', 'in', '03:00:00,01:00:00.000')).to.deep.equal([0, 2])
    expect(await found('startedAt', 'is before', '01:00:00.251')).to.deep.equal([0])
    expect(await found('startedAt', 'is not', '01:00:00.25')).to.deep.equal([1, 2])
    expect(await found('amount', 'gte', '1.25')).to.deep.equal([0, 2])
    expect(await found('amount', 'lt', '1e-3')).to.deep.equal([1])
    expect(await found('share', 'equals', '0.1')).to.deep.equal([0])
    expect(await found('share', 'equals', '0.10000000149011612'), 'the same in 32 bits').to.deep.equal([0])
    expect(await found('share', 'equals', '0.1000000001')).to.deep.equal([])
    expect(await found('share', 'lt', '0.1000000001')).to.deep.equal([0])
    expect(await found('share', 'gt', '0.1')).to.deep.equal([2])
    expect(await found('share', 'between', '0.0999999999,0.1000000001')).to.deep.equal([0])
    expect(await found('share', 'gt', '1e39')).to.deep.equal([])
    expect(await found('share', 'lt', '1e39')).to.deep.equal([0, 2])
    expect(await found('kind', 'in', '"water",gas')).to.deep.equal([0, 1])
    expect(await found('kind', 'ne', 'water')).to.deep.equal([1, 2])
    expect(await found('kind', 'is empty', '')).to.deep.equal([])
    expect(await found('labels', 'contains', 'new')).to.deep.equal([0, 1])
    expect(await found('labels', 'not contains', 'Büro')).to.deep.equal([0, 2])
    expect(await found('labels', 'is empty', '')).to.deep.equal([2])
    expect(await found('notes', 'is not empty', '')).to.deep.equal([1])
    expect(await found('digest', 'is empty', '')).to.deep.equal([0, 1, 2])
    expect(await found('serial', 'gte', '9223372036854775808')).to.deep.equal([0, 1])
    expect(await found('serial', 'lt', '9223372036854775808')).to.deep.equal([2])
    expect(await found('serial', 'in', '5,18446744073709550000')).to.deep.equal([1, 2])
    expect(await found('pulses', 'gt', '2147483648')).to.deep.equal([0])
    expect(await found('wideFlags', 'eq', '1099511627775')).to.deep.equal([0])
    expect(await found('isSealed', 'is', 'false')).to.deep.equal([0, 1, 2])
    expect(await found('meterKind', 'equals', 'gas')).to.deep.equal([0, 1, 2])
    expect(await found('meterLabels', 'contains', 'Büro')).to.deep.equal([0, 1, 2])
    const wrong = [
      ['readOn', 'is', '0000-00-00'],
      ['readOn', 'is', '2001-01-02T00:00:00Z'],
      ['readAt', 'is', '838:59:59'],
      ['amount', 'gt', '9007199254740993'],
      ['amount', 'gt', 'NaN'],
      ['kind', 'equals', 'Gas'],
      ['kind', 'in', 'gas,oil'],
      ['labels', 'contains', 'old'],
      ['serial', 'gt', '-1'],
      ['serial', 'gt', '18446744073709551616'],
      ['madeIn', 'eq', '99'],
      ['measuredAt', 'is', '2024-01-01T00:00:00.0000001Z']
    ] as const
    for (const [property, operator, value] of wrong) {
      const problem = { status: 400, code: 'filter.value.invalid', base: store.stack.url }
      expectProblem(await page(filter(property, operator, value)), problem)
    }
    for (const [property, operator] of [
      ['amount', 'in'],
      ['kind', 'contains'],
      ['kind', 'gt'],
      ['labels', 'equals'],
      ['details', 'equals'],
      ['proof', 'contains']
    ] as const) {
      const problem = { status: 400, code: 'filter.operator.unsupported', base: store.stack.url }
      expectProblem(await page(filter(property, operator, '1')), problem)
    }
  })

  it('pages by cursors through every order', async () => {
    for (const [at, kindOf] of ['water', 'Electricity', 'gas', "north's heat", 'water'].entries()) {
      const share = [null, 1.1, -3.5, 1e-45, 1.1][at] ?? null
      const values = { kind: kindOf, share, madeIn: 2101, state: at % 2 === 0 ? null : 'open', rank: at % 2 }
      const answer = await create({ ...values, serial: String(2n ** 63n + 1000n + BigInt(at)) })
      expect(answer.status, answer.text).to.equal(201)
    }
    const names = 'readOn,startedAt,amount,share,kind,state,rank,pulses,serial,isSealed,flags,wideFlags,measuredAt'
    const orders = [...names.split(','), 'madeIn', 'notedAt', 'kind,share', 'state,serial', 'share,kind,rank']
    // Each on one of the two databases in turn, and on both in the soak.
    for (const name of orders.filter((_, at) => isSoak || at % 2 === Number(kind === 'sqlite'))) {
      for (const direction of ['asc', 'desc']) {
        const query = `${filter('madeIn', 'gte', '2100')}&sortColumn=${name}&sortDirection=${direction}`
        const whole = ids(await page(`${query}&pageSize=500`))
        expect(whole.length).to.be.greaterThan(7)
        const walked: unknown[] = []
        let after = ''
        for (let pages = 0; pages <= whole.length; pages++) {
          const answer = await page(`${query}&pageSize=2${after}`)
          walked.push(...ids(answer))
          const next = answer.headers['x-next-cursor']
          if (next === undefined) break
          after = `&after=${String(next)}`
        }
        expect(walked, `${name} ${direction}`).to.deep.equal(whole)
      }
    }
    const kinds = json(await page(`${filter('madeIn', 'eq', '2101')}&sortColumn=kind&fields=kind`)) as {
      kind: string
    }[]
    const inOrder = ['Electricity', 'gas', "north's heat", 'water', 'water']
    expect(kinds.map(({ kind: one }) => one)).to.deep.equal(inOrder)
  })

  // What the document says depends on no database: `npm run soak` asks on both.
  if (isSoak || kind === 'mysql')
    it('has schemas in the OpenAPI document that answers and bodies meet, and wrong bodies do not', async () => {
      const ajv = new Ajv2020({ strict: false, allErrors: true })
      addFormats.default(ajv)
      ajv.addSchema(json(await store.as(LIBRARIAN, '/openapi.json')) as object, 'api')
      const validate = (name: string, value: unknown): string[] => {
        const isValid = ajv.compile({ $ref: `api#/components/schemas/${name}` })
        isValid(value)
        return (isValid.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message ?? ''}`)
      }
      expect(
        (await create({ notes: { a: 1 }, labels: ['new'], proof: 'AA==', remarks: null, state: null })).status
      ).to.equal(201)
      for (const row of json(await page('pageSize=500')) as object[])
        expect(validate('readings', row)).to.deep.equal([])
      const body = JSON.parse(reading()) as object
      expect(validate('readings.create', body)).to.deep.equal([])
      expect(
        validate('readings.create', { ...body, notes: [1], labels: ['new', 'Büro'], state: 'open' })
      ).to.deep.equal([])
      const { kind: _set, ...update } = body as Record<string, unknown>
      expect(validate('readings.update', update)).to.deep.equal([])
      expect(validate('readings.patch', { details: { made: null } })).to.deep.equal([])
      const wrong: Readonly<Record<string, unknown>> = {
        readOn: 'today',
        readAt: '24:00:00',
        startedAt: '08:00:00.1234',
        kind: 'GAS',
        labels: ['new', 'new'],
        details: {},
        rank: 128,
        floor: -1,
        pulses: 4_294_967_296,
        serial: '-1',
        flags: 4096,
        amount: '1.5',
        isSealed: 1,
        remarks: 'a',
        madeIn: 1900,
        state: 'shut'
      }
      for (const [name, value] of Object.entries(wrong)) {
        expect(validate('readings.create', { ...body, [name]: value }).join(), name).to.include(`/${name}`)
      }
    })

  it('merges a patch into JSON (RFC 7396), and judges what comes of it', async () => {
    const details = '{"made":1,"size":1.10,"deep":{"a":[1],"b":2}}'
    const created = await create({ notes: { kept: 1 } }, { details })
    expect(created.status, created.text).to.equal(201)
    const { id } = json(created) as { id: number }
    const patch = (body: string, etag: unknown) =>
      send('PATCH', `/readings/${id}`, body, { 'content-type': 'application/merge-patch+json', 'if-match': etag })
    const patched = await patch(
      '{"details":{"deep":{"a":null,"c":{"d":null,"e":2.50}}},"notes":{"kept":null}}',
      created.headers.etag
    )
    expect(patched.status, patched.text).to.equal(200)
    expect(patched.text).to.include('"details":{"made":1,"size":1.10,"deep":{"b":2,"c":{"e":2.50}}},"notes":{}')
    expectProblem(await patch('{"details":{"made":null}}', patched.headers.etag), {
      status: 400,
      code: 'body.invalid',
      base: store.stack.url,
      violations: [{ code: 'body.invalid', pointer: '/details', says: "details must have required property 'made'." }]
    })
    expect((await patch('{"details":{"size":1}}', created.headers.etag)).status, 'stale').to.equal(412)
    const replaced = await patch('{"notes":[{"a":null}],"remarks":["a"]}', patched.headers.etag)
    expect(replaced.text).to.include('"notes":[{"a":null}]').and.to.include('"remarks":["a"]')
  })

  it('lets no patches make more of JSON than a body has', async () => {
    const meter = { name: 'Long', kind: 'gas', installedOn: '1999-12-31', factor: 1 }
    const made = await send('POST', '/meters', JSON.stringify({ ...meter, plan: {} }))
    const target = `/meters/${(json(made) as { id: string }).id}`
    const add = (name: string, of: Answer, value: unknown = 'x'.repeat(600_000)): Promise<Answer> =>
      send('PATCH', target, JSON.stringify({ plan: { [name]: value } }), {
        'content-type': 'application/merge-patch+json',
        'if-match': of.headers.etag
      })
    const first = await add('one', made)
    expect(first.status).to.equal(200)
    // What is replaced does not count.
    const replaced = await add('one', first)
    expect(replaced.status).to.equal(200)
    const says = 'plan must have at most 1048576 characters and 50000 values after the patch; a PUT replaces it.'
    const tooMuch = { code: 'body.invalid', pointer: '/plan', says }
    const problem = { status: 400, code: 'body.invalid', base: store.stack.url, violations: [tooMuch] }
    expectProblem(await add('two', replaced), problem)
    const many = await add('one', replaced, Array(30_000).fill(1))
    expect(many.status).to.equal(200)
    expectProblem(await add('two', many, Array(30_000).fill(1)), problem)
  })

  it('shows the rule of updates what a patch makes of JSON', async () => {
    const meter = { name: 'Planned', kind: 'gas', installedOn: '1999-12-31', factor: 1 }
    const made = await send('POST', '/meters', JSON.stringify({ ...meter, plan: { from: 5, to: 10, by: 'x' } }))
    const target = `/meters/${(json(made) as { id: string }).id}`
    const change = (plan: object, of: Answer, method = 'PATCH'): Promise<Answer> =>
      send(method, target, JSON.stringify(method === 'PUT' ? { ...meter, plan } : { plan }), {
        'content-type': method === 'PUT' ? 'application/json' : 'application/merge-patch+json',
        'if-match': of.headers.etag
      })
    for (const [method, plan] of [
      ['PUT', { from: 50, to: 10 }],
      ['PATCH', { from: 50 }],
      ['PATCH', { to: 4 }],
      ['PATCH', { to: 1, by: null }]
    ] as const) {
      expectProblem(await change(plan, made, method), {
        status: 400,
        code: 'body.invalid',
        base: store.stack.url,
        violations: [{ code: 'body.invalid', pointer: '/plan', says: 'Its end is before its beginning.' }]
      })
    }
    const patched = await change({ from: 7 }, made)
    expect(patched.text).to.include('"plan":{"from":7,"to":10,"by":"x"}')
    // What was stored would not do with it: the row as it will be does.
    expect((await change({ from: 11, to: 12 }, patched)).text).to.include('"plan":{"from":11,"to":12,"by":"x"}')
  })

  it('exports sets as their words, JSON as its text, and no bytes', async () => {
    const answer = await create({ labels: ['new', 'Büro'], amount: -0.25, kind: 'gas', madeIn: 2102 })
    const { id } = json(answer) as { id: number }
    const fields = 'fields=id,readOn,readAt,amount,kind,labels,details,notes,serial'
    const csv = await store.as(LIBRARIAN, `/readings/export?bom=false&${filter('id', 'eq', String(id))}&${fields}`)
    const { serial } = json(answer) as { serial: string }
    expect(csv.text.split('\r\n')[1]).to.equal(
      `${id},2024-02-29,23:59:59,-0.25,gas,"new,Büro","{""made"":1}",,${serial}`
    )
    const whole = await store.as(LIBRARIAN, `/readings/export?bom=false&${filter('id', 'eq', String(id))}`)
    const header = whole.text.split('\r\n')[0]?.split(',') ?? []
    expect(header).to.include('labels').and.include('details').and.include('meterLabels')
    for (const name of ['proof', 'digest', 'photo', 'meterPhoto', 'proofBytes']) expect(header).to.not.include(name)
    expectProblem(await store.as(LIBRARIAN, '/readings/export?fields=id,proof'), {
      status: 400,
      code: 'fields.invalid',
      base: store.stack.url,
      says: '"proof" is a byte array, which an export leaves out.'
    })
  })

  if (kind === 'mysql') servesWhatOthersStored(store)
  servesNoOtherValue(store, kind)
})

/** Values that other programs put there and that no request may send. */
function servesWhatOthersStored(store: LibraryStore): void {
  it('serves what other programs have stored, and pages over it', async () => {
    await store.sql.run("SET SESSION sql_mode = ''")
    const rows = [
      { read_on: '0000-00-00', read_at: '-838:59:59', started_at: '-00:00:00.500', made_in: 0, kind: '', remarks: '' },
      {
        read_on: '2020-00-00',
        read_at: '838:59:59',
        started_at: '100:00:00.000',
        made_in: 2155,
        kind: 'gas',
        remarks: 'a,b'
      }
    ]
    for (const [at, row] of rows.entries()) {
      const all = {
        meter_id: 1,
        amount: 0,
        share: 0.1,
        rank: 3,
        depth: 0,
        height: 0,
        pulses: 0,
        serial: 77 + at,
        is_sealed: 0,
        flags: 0,
        // A month of 0, with the same moment in both rows: the id decides their order.
        noted_at: '2020-00-10 10:00:00',
        measured_at: `2020-01-01 00:00:00.00000${at}`,
        labels: '',
        details: '{"made": 1.0}',
        proof: '',
        story: '',
        row_version: Buffer.alloc(8, at + 1),
        ...row
      }
      const names = Object.keys(all)
      await store.sql.run(
        `INSERT INTO readings (${names.map((name) => `\`${name}\``).join()}) VALUES (${names.map(() => '?').join()})`,
        Object.values(all)
      )
    }
    const query = `${filter('serial', 'in', '77,78')}&fields=readOn,readAt,startedAt,madeIn,kind,remarks,notedAt,details,share`
    const answer = await store.as(LIBRARIAN, `/readings/paged?${query}`)
    const noted = '"notedAt":"2020-00-10T10:00:00.000Z","details":{"made": 1.0},"share":0.1'
    expect(answer.text).to.equal(
      '[{"readOn":"0000-00-00","readAt":"-838:59:59","startedAt":"-00:00:00.500","madeIn":0,"kind":"",' +
        `"remarks":[],${noted}},` +
        '{"readOn":"2020-00-00","readAt":"838:59:59","startedAt":"100:00:00.000","madeIn":2155,"kind":"gas",' +
        `"remarks":["a","b"],${noted}}]`
    )
    const empty = await store.as(LIBRARIAN, `/readings/paged?${filter('kind', 'is empty', '')}&fields=serial`)
    expect(json(empty)).to.deep.equal([{ serial: '77' }])
    for (const name of ['readOn', 'readAt', 'startedAt', 'madeIn', 'kind', 'notedAt', 'share']) {
      for (const direction of ['asc', 'desc']) {
        const sorted = `sortColumn=${name}&sortDirection=${direction}&${filter('rank', 'eq', '3')}`
        const whole = ids(await store.as(LIBRARIAN, `/readings/paged?${sorted}`))
        const first = await store.as(LIBRARIAN, `/readings/paged?${sorted}&pageSize=1`)
        const after = String(first.headers['x-next-cursor'])
        const second = await store.as(LIBRARIAN, `/readings/paged?${sorted}&pageSize=1&after=${after}`)
        expect([...ids(first), ...ids(second)], `${name} ${direction}`).to.deep.equal(whole)
      }
    }
    await store.sql.run('DELETE FROM readings WHERE serial IN (77, 78)')
  })
}

/** A value that is none of its type is null, and a person finds it in the answer and in the log; never is it another value. */
function servesNoOtherValue(store: LibraryStore, kind: DatabaseKind): void {
  it('shows no value that is none of its type, and says and logs where it is', async () => {
    const created = await store.as(LIBRARIAN, '/readings', { method: 'POST', headers: BODY, body: reading() })
    const { id } = json(created) as { id: number }
    // Columns of MySQL hold no value of another type.
    const wrong: readonly (readonly [column: string, odd: string | number])[] =
      kind === 'mysql'
        ? []
        : [
            ['read_on', 'yesterday'],
            ['read_at', '8 o’clock'],
            ['noted_at', '2024-01-01 00:00:00'],
            ['amount', Number.POSITIVE_INFINITY],
            ['serial', '42'],
            ['details', '{"made": 1'],
            ['rank', 2 ** 40]
          ]
    for (const [column, odd] of wrong) {
      const [before] = await store.sql.run(`SELECT \`${column}\` AS value FROM readings WHERE id = ?`, [id])
      await store.sql.run(`UPDATE readings SET \`${column}\` = ? WHERE id = ?`, [odd, id])
      const answer = await store.as(LIBRARIAN, `/readings/${id}`)
      if (column === 'rank') expect(json(answer), 'a number is a number').to.include({ rank: 2 ** 40 })
      else {
        const property = column.replace(/_(.)/, (_, letter: string) => letter.toUpperCase())
        // Without a version nobody can write the null back over the value.
        expect(json(answer)).to.include({ [property]: null, rowVersion: null })
        expect(answer.headers).to.not.have.property('etag')
        expect([answer.status, answer.headers['x-unshown-values']]).to.deep.equal([200, `${id}; property=${property}`])
        const requestId = answer.headers['x-request-id']
        const place = `readings.${column} of the row with the id ${id}`
        const isLogged = (): boolean =>
          store.stack.logs().some((line) => line['requestId'] === requestId && JSON.stringify(line).includes(place))
        // The log comes through a pipe.
        while (!isLogged()) await setTimeout(50)
      }
      const value = before?.['value'] ?? null
      await store.sql.run(`UPDATE readings SET \`${column}\` = ? WHERE id = ?`, [
        typeof value === 'object' ? null : value,
        id
      ])
    }
    expect((await store.as(LIBRARIAN, `/readings/${id}`)).status).to.equal(200)
  })
}
