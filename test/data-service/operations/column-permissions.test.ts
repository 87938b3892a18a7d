import { expect } from 'chai'
import fc from 'fast-check'
import { everyone, permission } from '../../../data-service/entity/access.js'
import { reject } from '../../../data-service/entity/action.js'
import { anonymous, type Caller } from '../../../data-service/entity/caller.js'
import { defineEntity } from '../../../data-service/entity/define-entity.js'
import { defaultTo, int, optional, readableBy, readOnly, text } from '../../../data-service/entity/fields/words.js'
import { makeCatalogue } from '../../../data-service/plan/model/catalogue.js'
import { describeCatalogue } from '../../../data-service/operations/describe/describe.js'
import { itemsOfArray, withoutMembers } from '../../../data-service/operations/json.js'
import { DescribedViews } from '../../../data-service/rpc/described-views.js'
import type { DescribeResponse, DescribeResponse__Output } from '../../../shared/gen/entity/v1/DescribeResponse.js'
import type { EntityServiceDefinition } from '../../../shared/gen/entity/v1/EntityService.js'
import type { ProtoGrpcType } from '../../../shared/gen/entity_service.js'
import { loadProto } from '../../../shared/transport/wire.js'
import { GATEWAY_SECRET_METADATA } from '../../../shared/tls.js'
import { answer, failure, metadata, type RunningService, runService, soon } from '../rpc/running-service.js'
import { caller, violationsIn, WriteHarness } from '../rpc/write-harness.js'

/** What the rules of the entity file saw as input, in order. */
let inputs: unknown[] = []

const boxes = defineEntity({
  name: 'boxes',
  description: 'Boxes.',
  fields: {
    id: readOnly(int()),
    name: text(99),
    cost: readableBy('boxes:cost', optional(int())),
    level: readableBy('boxes:cost', defaultTo(int(), 7)),
    note: readableBy('boxes:cost', optional(text(99)))
  },
  children: {
    parts: {
      table: 'box_parts',
      foreignKey: 'boxId',
      fields: { id: readOnly(int()), size: int(), price: readableBy('boxes:cost', optional(int())) }
    }
  },
  label: 'name',
  filterable: [],
  sortable: [],
  access: { read: everyone, write: permission('boxes:manage') },
  customReads: {
    costs: { description: 'What they cost.', item: 'cost', access: permission('boxes:cost') }
  },
  writes: ['create', 'update'],
  creates: {
    children: { parts: { min: 0 } },
    prepare: ({ input, children }) => {
      inputs.push({ ...input, parts: children.parts })
      return { values: {} }
    }
  },
  updates: ({ input, root }) => {
    inputs.push({ input, root: { cost: root.cost, level: root.level } })
    return input.cost === 99 ? reject.state('It costs too much.') : {}
  },
  actions: (action) => ({
    touch: action({ description: 'Nothing.', change: ({ root }) => ({ set: { cost: (root.cost ?? 0) + 1 } }) })
  })
})

const clerk = caller({ permissions: ['boxes:manage'] })
const buyer = caller({ permissions: ['boxes:manage', 'boxes:cost'] })

describe('bodies with a column by permission', () => {
  let service: WriteHarness
  beforeEach(() => {
    service = new WriteHarness([boxes])
    inputs = []
  })
  const create = (body: object, by: Caller, more: object = {}) =>
    service.create({ resource: 'boxes', body, ...more }, by)
  it('take it from callers who may read it, required or not', async () => {
    const { record } = await create({ name: 'a', cost: 5, level: 6, parts: [{ size: 1, price: 2 }] }, buyer)
    expect(record).to.include({ name: 'a', cost: 5, level: 6 })
    expect(inputs).to.deep.equal([{ name: 'a', cost: 5, level: 6, note: null, parts: [{ size: 1, price: 2 }] }])
  })

  it('ignore it from others as an unknown member, and the row gets its default or null', async () => {
    const sent = { name: 'a', cost: 'no number', level: 6, made: 1, parts: [{ size: 1, price: 2, other: 3 }] }
    const { id, record, ignored } = await create(sent, clerk)
    expect(ignored).to.have.members(['cost', 'level', 'made', 'parts/0/price', 'parts/0/other'])
    expect(record).to.have.all.keys('id', 'name', 'rowVersion')
    expect(service.store.row('boxes', Number(id))).to.include({ cost: null, level: 7 })
    expect(inputs).to.deep.equal([{ name: 'a', cost: null, level: 7, note: null, parts: [{ size: 1, price: null }] }])
  })

  it('reject it from others under strict handling as an unknown member', async () => {
    const strict = create({ name: 'a', cost: 1, made: 2, parts: [{ size: 1, price: 2 }] }, clerk, { strict: true })
    expect(await violationsIn(strict)).to.have.members([
      'parameter.unknown /cost',
      'parameter.unknown /made',
      'parameter.unknown /parts/0/price'
    ])
  })
})

describe('an import of rows with a column by permission', () => {
  it('tells nothing of it when it is sent again by a caller who has lost the permission', async () => {
    const service = new WriteHarness([boxes])
    const rows = [{ name: 'a', cost: 'x' }, { name: '' }, { name: 'b', parts: [{ size: 1, price: 2 }] }]
    const first = await service.import(rows, buyer)
    expect(first).to.include({ created: 1, failed: 2, replayed: false })
    expect(first.errors?.map(({ row, pointer }) => [row, pointer])).to.deep.equal([
      [1, '/cost'],
      [2, '/name']
    ])
    const again = await service.import(rows, clerk)
    expect(again).to.include({ createdBefore: 1, failed: 2, replayed: true })
    expect(again.errors?.map(({ row, pointer }) => [row, pointer])).to.deep.equal([[2, '/name']])
  })
})

describe('an import whose rows come in several calls', () => {
  const first = [{ name: 'a', parts: [{ size: 1 }, { size: 2 }] }, { name: 'b' }]
  const stop = { onError: 'stop' }

  it('creates all of them with the last call, and forgets what was kept', async () => {
    const service = new WriteHarness([boxes])
    const { continuation } = await service.import(first, clerk, { ...stop, more: true })
    if (!Buffer.isBuffer(continuation)) throw new TypeError('no continuation')
    expect(service.store.row('boxes', 1)).to.equal(undefined)
    const whole = { ...stop, firstRow: 2, continuation }
    expect(await service.import([{ name: 'c' }], clerk, whole)).to.include({ created: 3 })
    expect(service.store.keys).to.equal(2)
    // No more parts are looked for than there are.
    const [secret, , digest, , written] = JSON.parse(String(continuation)) as unknown[]
    const forged = Buffer.from(JSON.stringify([secret, 9999, digest, 9999, written]))
    await service.import([], clerk, { ...stop, firstRow: 9999, continuation: forged, more: true, forget: true })
    expect(service.store.keys).to.equal(2)
    await service.import([], clerk, { ...whole, more: true, forget: true })
    expect(service.store.keys).to.equal(1)
  })

  it('is refused where the continuation tells fewer rows, or fewer children, than are kept', async () => {
    for (const [row, written] of [
      [1, 4],
      [2, 3]
    ] as const) {
      const service = new WriteHarness([boxes])
      const { continuation } = await service.import(first, clerk, { ...stop, more: true })
      const [secret, , digest, parts] = JSON.parse(String(continuation)) as unknown[]
      const forged = Buffer.from(JSON.stringify([secret, row, digest, parts, written]))
      const last = service.import([{ name: 'c' }], clerk, { ...stop, firstRow: row, continuation: forged })
      expect(await violationsIn(last)).to.deep.equal(['request.malformed'])
      expect(service.store.row('boxes', 1)).to.equal(undefined)
    }
  })

  it('is refused with more than 50,000 rows, those of children among them', async () => {
    const service = new WriteHarness([boxes])
    const continuation = Buffer.from(JSON.stringify(['s', 100, 'd', 1, 49_999]))
    const parts = service.import([{ name: 'c', parts: [{ size: 1 }] }], clerk, { ...stop, firstRow: 100, continuation })
    expect(await violationsIn(parts)).to.deep.equal(['body.invalid /100'])
  })
})

describe('a PUT of a row with a column by permission', () => {
  let service: WriteHarness
  let version: Buffer
  beforeEach(() => {
    service = new WriteHarness([boxes])
    inputs = []
    version = service.store.add('boxes', { id: 1, name: 'a', cost: 5, level: 6, note: 'n' })
  })
  const put = (body: object, by: Caller, more: object = {}) =>
    service.update({ resource: 'boxes', body, tags: [version], ...more }, by)

  it('replaces it for callers who may read it, null or the default where it is left out', async () => {
    const { record } = await put({ name: 'b', level: 8 }, buyer)
    expect(record).to.include({ name: 'b', cost: null, level: 8, note: null })
    version = service.store.add('boxes', { id: 2, name: 'a', cost: 5, level: 6, note: 'n' })
    const second = await put({ name: 'b' }, buyer, { id: '2' })
    expect(second.record).to.include({ cost: null, level: 7 })
  })

  it('keeps it for others, who may leave it out and whose members of that name are unknown', async () => {
    const { record, ignored } = await put({ name: 'b', cost: 1, made: 1 }, clerk)
    expect(record).to.have.all.keys('id', 'name', 'rowVersion')
    expect(ignored).to.deep.equal(['cost', 'made'])
    expect(service.store.row('boxes', 1)).to.include({ name: 'b', cost: 5, level: 6, note: 'n' })
    const strict = put({ name: 'b', cost: 1, made: 1 }, clerk, { strict: true })
    expect(await violationsIn(strict)).to.deep.equal(['parameter.unknown /cost', 'parameter.unknown /made'])
  })

  it('shows the rule of the entity file the kept values as its input', async () => {
    await put({ name: 'b', cost: 1 }, clerk)
    expect(inputs).to.deep.equal([{ input: { name: 'b', cost: 5, level: 6, note: 'n' }, root: { cost: 5, level: 6 } }])
  })

  it('leaves it out of the answer of an action, which sees it', async () => {
    const { record } = await service.act('touch', { resource: 'boxes', tags: [version], body: {} }, clerk)
    expect(record).to.have.all.keys('id', 'name', 'rowVersion')
    expect(service.store.row('boxes', 1)).to.include({ cost: 6 })
  })
})

describe('a stored response with a column by permission', () => {
  const demoted = caller({ permissions: ['boxes:manage'] })
  const key = { idempotencyKey: 'k' }

  it('shows it no more to a caller who has lost the permission, and all other bytes as they were', async () => {
    const service = new WriteHarness([boxes])
    const request = { resource: 'boxes', body: { name: 'a, "cost":1', cost: 5, made: 1, note: ',"name":{' }, ...key }
    const first = await service.create(request, buyer)
    const again = await service.create(request, buyer)
    expect([again.replayed, again.json, again.ignored]).to.deep.equal([true, first.json, ['made']])
    const after = await service.create(request, demoted)
    expect(after.replayed).to.equal(true)
    expect(after.json).to.equal(first.json.replace('"cost":5,"level":7,"note":",\\"name\\":{",', ''))
    expect(after.json).to.match(/^{"id":\d+,"name":"a, \\"cost\\":1","rowVersion":"[^"]+"}$/)
    expect(after.ignored).to.deep.equal(['cost', 'made', 'note'])
    expect([after.id, after.location, after.version]).to.deep.equal([first.id, first.location, first.version])
  })

  it('stays without it for a caller who has got the permission since', async () => {
    const service = new WriteHarness([boxes])
    const request = { resource: 'boxes', body: { name: 'a', cost: 5 }, ...key }
    const first = await service.create(request, demoted)
    const after = await service.create(request, buyer)
    expect([after.replayed, after.json, after.ignored]).to.deep.equal([true, first.json, ['cost']])
  })
})

describe('the bytes of Describe', () => {
  const { Describe } = serviceOf()
  const names = Array.from({ length: 50 }, (_, at) => `boxes-${at}`)
  const describeTo = describeCatalogue(makeCatalogue(names.map((name) => ({ ...boxes, name }))), {
    bypassRole: undefined,
    parameterName: 'id'
  })
  /** The names of the resources in each message that was encoded. */
  let encoded: string[] = []
  const encode = (message: DescribeResponse): Buffer => {
    if (message.resources !== undefined) encoded.push(...message.resources.map(({ name = '' }) => name))
    return Describe.responseSerialize(message)
  }
  beforeEach(() => (encoded = []))
  const answered = (views: DescribedViews, by: Caller, keyRequired = true): Promise<Buffer> =>
    views.answer(describeTo.steps(by), { keyRequired })

  it('say what the answer of the same caller says, and keep a view for each set of permissions', async () => {
    const views = new DescribedViews(encode)
    for (const keyRequired of [true, false]) {
      for (const by of [clerk, buyer, caller(), clerk, buyer, anonymous]) {
        const bytes = await answered(views, by, keyRequired)
        const whole = Describe.responseDeserialize(Describe.responseSerialize({ ...describeTo(by), keyRequired }))
        expect(Describe.responseDeserialize(bytes)).to.deep.equal(whole)
        expect(bytes.includes('price')).to.equal(by === buyer)
      }
    }
    // Only the buyer sees more than the others. Everything else in an answer is of its caller.
    expect(encoded).to.have.members([...names, ...names])
  })

  it('are made once for all who ask at one moment, in turns of the event loop', async () => {
    const views = new DescribedViews(encode)
    let turns = 0
    let isDone = false
    const count = (): void => {
      turns += 1
      if (!isDone) setImmediate(count)
    }
    setImmediate(count)
    const answers = await Promise.all([clerk, buyer, clerk, buyer, clerk].map((by) => answered(views, by)))
    isDone = true
    expect(encoded).to.have.members([...names, ...names])
    expect(new Set(answers.map((one) => one.toString('base64')))).to.have.property('size', 2)
    // The steps of three turns, and as many in which bytes are made.
    expect(turns).to.be.greaterThan(5)
    await answered(views, clerk)
    expect(encoded).to.have.length(100)
  })

  it('are kept within a bound of bytes, the least used view not', async () => {
    const { length } = await answered(new DescribedViews(encode), buyer)
    const views = new DescribedViews(encode, length + 1000)
    encoded = []
    for (const by of [clerk, clerk, buyer, buyer, clerk]) await answered(views, by)
    expect(encoded).to.have.length(150)
    const none = new DescribedViews(encode, 1000)
    encoded = []
    for (const by of [clerk, clerk]) await answered(none, by)
    expect(encoded).to.have.length(100)
  })
})

function serviceOf(): EntityServiceDefinition {
  // What proto-loader made of the file that the types were generated from.
  const { entity } = loadProto('entity/v1/entity_service.proto').types as unknown as ProtoGrpcType
  return entity.v1.EntityService.service
}

describe('Describe of a column by permission', () => {
  let service: RunningService
  before(async () => {
    service = await runService([boxes])
  })
  after(() => service.stop())
  const describeTo = async (sent: Readonly<Record<string, string>>, request: object = {}): Promise<string> => {
    const described = await answer<DescribeResponse__Output>((done) =>
      service.client.describe(request, metadata(sent), soon(), done)
    )
    const [box] = described.resources
    return [...(box?.properties ?? []), ...(box?.navigations ?? []).flatMap(({ properties }) => properties)]
      .map(({ name, readableBy }) => [name, ...readableBy].join(' '))
      .join()
  }
  const OPEN = 'id,name,rowVersion,id,size,rowVersion'
  const WHOLE =
    'id,name,cost boxes:cost,level boxes:cost,note boxes:cost,rowVersion,id,size,price boxes:cost,rowVersion'

  it('is whole for a gateway, with the permission of each property', async () => {
    expect(await describeTo({ [GATEWAY_SECRET_METADATA]: 'of a gateway' })).to.equal(WHOLE)
  })

  it('is what anybody may see for others without a token, and for a gateway that asks as its caller', async () => {
    expect(await describeTo({})).to.equal(OPEN)
    expect(await describeTo({}, { asCaller: true })).to.equal(OPEN)
    expect(await describeTo({ [GATEWAY_SECRET_METADATA]: 'of no gateway' })).to.equal(OPEN)
    expect(await describeTo({ [GATEWAY_SECRET_METADATA]: 'of a gateway' }, { asCaller: true })).to.equal(OPEN)
    expect(await describeTo({ authorization: 'owner 1' })).to.equal(OPEN)
  })

  it('is what the token may see, with a digest of its own', () => {
    const describeBy = describeCatalogue(makeCatalogue([boxes]), { bypassRole: undefined, parameterName: 'id' })
    const [open, whole] = [describeBy(clerk), describeBy('gateway')]
    expect(describeBy(buyer).resources).to.equal(whole.resources)
    expect(describeBy(caller()).resources).to.equal(open.resources)
    expect([describeBy(buyer).digest, describeBy(caller()).digest]).to.deep.equal([whole.digest, open.digest])
    expect(open.digest).not.to.equal(whole.digest)
    // The read of the resource's own is called `costs` and has a permission of its own, and neither is a secret.
    const besidesReads = open.resources?.map(({ reads: _named, readAccess, ...rest }) => [
      rest,
      readAccess?.filter(({ operations }) => operations?.includes('costs') !== true)
    ])
    expect(open.resources?.[0]?.readAccess).to.have.length(2)
    expect(JSON.stringify(besidesReads)).not.to.match(/cost|level|price/)
    const reads = [open, whole].map(({ resources }) => resources?.[0]?.reads)
    expect(reads.map((all) => all?.map(({ name, items }) => [name, items?.length]))).to.deep.equal([
      [['costs', 0]],
      [['costs', 1]]
    ])
    // What the token may call is told apart from the view, and no gateway's: the digest is that of the view alone.
    expect(whole.allowed).to.equal(undefined)
    const called = [clerk, buyer, caller()].map((by) =>
      describeBy(by).allowed?.[0]?.names?.filter((one) => one !== 'lookup')
    )
    const reading = ['list', 'paged', 'export', 'get']
    expect(called).to.deep.equal([
      [...reading, 'create', 'update', 'batch', 'updateBatch', 'import', 'touch'],
      [...reading, 'create', 'update', 'batch', 'updateBatch', 'import', 'costs', 'touch'],
      reading
    ])
    const [box] = whole.resources ?? []
    expect(box?.properties?.find(({ name }) => name === 'level')).to.include({ setOnCreate: true, setOnUpdate: true })
  })

  it('of a bad token is unauthenticated', async () => {
    const { code } = await failure((done) =>
      service.client.describe({}, metadata({ authorization: 'nonsense' }), soon(), done)
    )
    expect(code).to.equal('auth.invalid-token')
  })
})

describe('withoutMembers', () => {
  it('leaves every other byte as it is', () => {
    const parts = ['"a":1.50', '"b":"x,\\"}{]["', '"c":{"b":[1,{"a":","}]}', '"d":"\\\\"', '"e":null', '"ab":0']
    const json = Buffer.from(`{${parts.join()}}`)
    const without = (...names: string[]) => withoutMembers(json, new Set(names)).toString()
    expect(without()).to.equal(json.toString())
    for (const [index, name] of ['a', 'b', 'c', 'd', 'e', 'ab'].entries()) {
      expect(without(name)).to.equal(`{${parts.toSpliced(index, 1).join()}}`)
    }
    expect(without('a', 'b', 'c', 'd', 'e', 'ab')).to.equal('{}')
    expect(without('a', 'b', 'e')).to.equal(`{${[parts[2], parts[3], parts[5]].join()}}`)
    const rows = (...objects: string[]) => Buffer.from(`[${objects.join()}]`)
    const several = rows(`{${parts.join()}}`, '{}', '{"a":[{"a":1}]}', `{${parts.toReversed().join()}}`)
    const left = parts.slice(1)
    expect(withoutMembers(several, new Set(['a'])).toString()).to.equal(
      rows(`{${left.join()}}`, '{}', '{}', `{${left.toReversed().join()}}`).toString()
    )
    expect(withoutMembers(rows(), new Set(['a'])).toString()).to.equal('[]')
  })

  it('is as what JSON.parse and JSON.stringify make of it, for any record', () => {
    const member = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.jsonValue(), { maxKeys: 3 })
    const names = fc.subarray(['a', 'b', 'c'])
    fc.assert(
      fc.property(fc.oneof(member, fc.array(member)), names, (value, gone) => {
        const json = JSON.stringify(value)
        const expected = [value].flat().map((one) => {
          const entries = Object.entries(JSON.parse(JSON.stringify(one)) as object)
          return Object.fromEntries(entries.filter(([name]) => !gone.includes(name as 'a')))
        })
        const cut = withoutMembers(Buffer.from(json), new Set(gone)).toString()
        expect(cut).to.equal(JSON.stringify(Array.isArray(value) ? expected : expected[0]))
        if (Array.isArray(value)) {
          expect(itemsOfArray(Buffer.from(json)).map(String)).to.deep.equal(value.map((one) => JSON.stringify(one)))
        }
      })
    )
  })

  it('takes a text with very many values in a moment, and little memory', () => {
    const row = `{"a":[${'1,'.repeat(8000)}1],"b":1}`
    const json = Buffer.from(`[${Array.from({ length: 180 }, () => row).join()}]`)
    const before = process.memoryUsage().heapUsed
    const began = process.cpuUsage()
    const cut = withoutMembers(json, new Set(['b']))
    // With a text for each value it took seconds, and 30 times the bytes.
    expect(process.cpuUsage(began).user, 'microseconds of the processor').to.be.below(2_000_000)
    expect(process.memoryUsage().heapUsed - before).to.be.below(30 * 1024 * 1024)
    expect(cut).to.have.length(json.length - 180 * ',"b":1'.length)
  })
})
