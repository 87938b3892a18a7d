import { expect } from 'chai'
import { clientTypesOf } from '../../cli/client-types.js'
import { anonymous, type Caller } from '../../data-service/entity/caller.js'
import { makeCatalogue } from '../../data-service/plan/model/catalogue.js'
import { describeCatalogue } from '../../data-service/operations/describe/describe.js'
import { type Answer, filter, json } from '../api/http-call.js'
import { type Message, TypedClient } from '../harness/typed-client.js'
import { GrpcCaller, isFailure } from '../stack/grpc-caller.js'
import { describeLibrary, LIBRARIAN } from './describe-library.js'
import library from './uniform-rest.config.js'

type Row = Readonly<Record<string, unknown>>

const SECRETS = /code-of|seal-of|hint-of|chip-of/
const NAMES = ['accessCode', 'seal', 'hint', 'attempts', 'settings'] as const

/** contract.md section 6: write-only columns are in bodies, and in nothing else. The entity file is doors.ts. */
describeLibrary(
  'a write-only column',
  (store) => {
    const send = store.write.bind(store)
    const tagOf = ({ headers }: Answer): string => String(headers['etag'])
    const rowOf = (answer: Answer): Row => json(answer) as Row
    const create = (body: object = {}): Promise<Answer> =>
      send('POST', '/doors', { name: 'North', accessCode: 'code-of-north', seal: 'seal-of-north', ...body })
    const stored = async (id: unknown): Promise<Row> => {
      const [row] = await store.sql.run(
        'SELECT name, access_code AS accessCode, seal, hint, attempts, settings FROM doors WHERE id = ?',
        [Number(id)]
      )
      const settings = row?.['settings']
      return {
        ...row,
        attempts: Number(row?.['attempts']),
        settings: typeof settings === 'string' ? (JSON.parse(settings) as unknown) : settings
      }
    }

    it('has its faults in the answer of an import, and in a replay of it', async () => {
      const headers = { 'content-type': 'application/x-ndjson', 'idempotency-key': 'doors' }
      const body = [{ name: 'West' }, { name: 'South', accessCode: 7, seal: 'seal-of-south' }].map((row) =>
        JSON.stringify(row)
      )
      for (const replayed of [undefined, 'true']) {
        const answer = await store.as(LIBRARIAN, '/doors/import?onError=skip', {
          method: 'POST',
          headers,
          body: body.join('\n')
        })
        expect([answer.status, answer.headers['idempotent-replayed']], answer.text).to.deep.equal([200, replayed])
        const { errors } = json(answer) as { errors: { row: number; pointer: string }[] }
        expect(errors.map(({ row, pointer }) => `${row} ${pointer}`)).to.include.members([
          '1 /accessCode',
          '2 /accessCode'
        ])
      }
    })

    it('is stored by a create, and its answer has no member of that name, nor has a replay of it', async () => {
      const headers = { 'content-type': 'application/json', 'idempotency-key': 'door-1' }
      const body = JSON.stringify({
        name: 'East',
        accessCode: 'code-of-east',
        seal: 'seal-of-east',
        hint: 'hint-of-east',
        settings: { a: 1 },
        keys: [{ holder: 'Ada', chip: 'chip-of-ada' }]
      })
      const created = await store.as(LIBRARIAN, '/doors', { method: 'POST', headers, body })
      expect(created.status, created.text).to.equal(201)
      const { id, keys, ...rest } = rowOf(created)
      expect(Object.keys(rest)).to.deep.equal(['name', 'rowVersion'])
      expect(created.headers['x-ignored-parameters']).to.equal(undefined)
      expect(await stored(id)).to.deep.equal({
        name: 'East',
        accessCode: 'code-of-east',
        seal: 'seal-of-east',
        hint: 'hint-of-east',
        attempts: 3,
        settings: { a: 1 }
      })
      expect((keys as Row[] | undefined)?.map(Object.keys) ?? []).to.deep.equal([])
      const [key] = await store.sql.run('SELECT holder, chip FROM door_keys WHERE door_id = ?', [Number(id)])
      expect(key).to.deep.equal({ holder: 'Ada', chip: 'chip-of-ada' })
      const read = rowOf(await store.as(LIBRARIAN, `/doors/${String(id)}?includeChildren=true`))
      expect((read['keys'] as Row[]).map(Object.keys)).to.deep.equal([['id', 'holder', 'rowVersion']])
      const replayed = await store.as(LIBRARIAN, '/doors', { method: 'POST', headers, body })
      expect([replayed.text, replayed.headers['idempotent-replayed']]).to.deep.equal([created.text, 'true'])
    })

    it('is missing from a create that needs it, and is checked as any other', async () => {
      const missing = await send('POST', '/doors', { name: 'X', seal: 'y' })
      expect([missing.status, rowOf(missing)['detail']]).to.deep.equal([400, 'accessCode is missing.'])
      const short = await create({ accessCode: 'abc' })
      expect([short.status, rowOf(short)['code']]).to.deep.equal([400, 'body.invalid'])
      const unknown = await create({ checksum: 'x' })
      expect([unknown.status, unknown.headers['x-ignored-parameters']]).to.deep.equal([201, 'body.checksum'])
    })

    it('keeps its value in a PUT and a PATCH without it, and takes that of one with it, null too', async () => {
      const created = await create({ hint: 'hint-of-north', attempts: 5, settings: { a: 1, b: 2 } })
      const { id } = rowOf(created)
      const before = await stored(id)
      const put = await send('PUT', `/doors/${String(id)}`, { name: 'Noon' }, tagOf(created))
      expect(put.status, put.text).to.equal(200)
      expect(await stored(id)).to.deep.equal({ ...before, name: 'Noon' })
      const set = { accessCode: 'code-of-noon', hint: null, attempts: 7, settings: { c: 3 } }
      const whole = await send('PUT', `/doors/${String(id)}`, { name: 'Noon', ...set }, tagOf(put))
      expect(whole.status, whole.text).to.equal(200)
      expect(await stored(id)).to.deep.equal({ ...before, name: 'Noon', ...set })
      const patched = await send('PATCH', `/doors/${String(id)}`, { settings: { d: 4 } }, tagOf(whole))
      expect(patched.status, patched.text).to.equal(200)
      expect(await stored(id)).to.deep.equal({ ...before, name: 'Noon', ...set, settings: { c: 3, d: 4 } })
      for (const { text } of [created, put, whole, patched]) expect(text).to.not.match(SECRETS)
    })

    it('of a create alone stays as it is, and an update names it as ignored', async () => {
      const created = await create()
      const { id } = rowOf(created)
      const put = await send('PUT', `/doors/${String(id)}`, { name: 'North', seal: 'seal-of-thief' }, tagOf(created))
      expect([put.status, put.headers['x-ignored-parameters']]).to.deep.equal([200, 'body.seal'])
      expect(await stored(id)).to.include({ seal: 'seal-of-north' })
    })

    it('is an unknown name to filters, sorts, fields, search and exports', async () => {
      await create()
      for (const name of NAMES) {
        const about = async (query: (one: string) => string): Promise<unknown[]> => {
          const answers = [name, `${name.slice(0, -1)}q`].map((one) =>
            store.as(LIBRARIAN, `/doors/paged?${query(one)}`)
          )
          return (await Promise.all(answers)).map(({ status, text }, at) =>
            JSON.stringify([status, text])
              .replaceAll(at === 0 ? name : `${name.slice(0, -1)}q`, '<name>')
              .replaceAll(/"requestId.*?"[,}]/g, '')
          )
        }
        const probes = [
          (one: string) => filter(one, 'starts with', 'c'),
          (one: string) => `sortColumn=${one}`,
          (one: string) => `fields=id,${one}`
        ]
        for (const probe of probes) {
          const [real, other] = await about(probe)
          expect(real, name)
            .to.equal(other)
            .and.match(/^"?\[400/)
        }
      }
      const found = await store.as(LIBRARIAN, '/doors/paged?search=code-of')
      expect(json(found)).to.deep.equal([])
      for (const path of ['/doors', '/doors/paged?includeChildren=true', '/doors/export', '/doors/lookup']) {
        const answer = await store.as(LIBRARIAN, path)
        expect([answer.status, SECRETS.test(answer.text)], path).to.deep.equal([200, false])
      }
    })

    it('is writeOnly in the bodies of the OpenAPI document, and in no row of it', async () => {
      const document = json(await store.as(LIBRARIAN, '/openapi.json')) as {
        components: { schemas: Record<string, { properties: Record<string, Row>; required: string[] }> }
      }
      const { schemas } = document.components
      const shown = (name: string): string[] => Object.keys(schemas[name]?.properties ?? {})
      expect(shown('doors')).to.deep.equal(['id', 'name', 'rowVersion', 'keys'])
      expect(shown('doors.create')).to.deep.equal(['name', ...NAMES, 'keys'])
      expect(schemas['doors.create']?.required).to.deep.equal(['name', 'accessCode', 'seal'])
      expect(shown('doors.update')).to.deep.equal(['name', 'accessCode', 'hint', 'attempts', 'settings'])
      expect(schemas['doors.update']?.required).to.deep.equal(['name'])
      for (const body of ['doors.create', 'doors.update', 'doors.patch']) {
        expect(schemas[body]?.properties['accessCode'], body).to.include({ type: 'string', writeOnly: true })
        expect(schemas[body]?.properties['name'], body).to.not.have.property('writeOnly')
      }
      const keys = schemas['doors.create']?.properties['keys'] as { items: { properties: Record<string, Row> } }
      expect(keys.items.properties['chip']).to.include({ writeOnly: true })
      expect(shown('doors.keys')).to.deep.equal(['id', 'holder', 'rowVersion'])
      const page = await store.as(LIBRARIAN, '/docs/resources/doors')
      expect(page.text).to.include('<code>accessCode</code>').and.include('create (required), update; in no answer')
    })

    it('is written over gRPC, generic and typed, and read by neither', async () => {
      const token = store.tokenOf(LIBRARIAN)
      const generic = new GrpcCaller(store.stack.dataAddress)
      const typed = new TypedClient(library, 'DoorService', store.stack.dataAddress)
      try {
        const body = Buffer.from(JSON.stringify({ name: 'G', accessCode: 'code-of-g', seal: 'seal-of-g' }))
        const answer = (await generic.unary('Create', { resource: 'doors', body }, { token })) as {
          readonly id: string
          readonly record: { readonly json: Buffer }
        }
        expect(isFailure(answer)).to.equal(false)
        expect(answer.record.json.toString()).to.not.match(SECRETS)
        expect(await stored(answer.id)).to.include({ accessCode: 'code-of-g' })
        const door = { name: 'T', access_code: 'code-of-t', seal: 'seal-of-t', attempts: 9 }
        const made = (await typed.call('CreateDoor', { door }, token))['door'] as Message
        expect(made['access_code'] ?? null).to.equal(null)
        expect(await stored(made['id'])).to.include({ accessCode: 'code-of-t', attempts: 9 })
        const replace = { door: { id: made['id'], name: 'U' }, id: made['id'], row_version: made['row_version'] }
        await typed.call('ReplaceDoor', replace, token)
        expect(await stored(made['id'])).to.include({ name: 'U', accessCode: 'code-of-t', attempts: 9 })
      } finally {
        generic.close()
        typed.close()
      }
    })

    it('is described to callers who may send a body that has it, and to no others', () => {
      const ownership = { claimType: 'member_id', parameterName: 'id', bypassRole: 'Admin' }
      const describeTo = describeCatalogue(makeCatalogue(library.entities), ownership, library.operations)
      const librarian: Caller = {
        kind: 'authenticated',
        issuer: 'i',
        subject: 's',
        owner: null,
        roles: [],
        permissions: new Set(['library:manage']),
        claims: {}
      }
      for (const [caller, names] of [
        [anonymous, []],
        [{ ...librarian, permissions: new Set(['loans:read']) }, []],
        [librarian, [...NAMES, 'chip']]
      ] as const) {
        const { resources = [] } = describeTo(caller, 'allowed')
        const door = resources.find(({ name }) => name === 'doors')
        const told = [door ?? {}, ...(door?.navigations ?? [])].flatMap(({ writeOnly = [] }) => writeOnly)
        expect(told.map(({ name }) => name)).to.deep.equal(names)
        expect(door?.properties?.map(({ name }) => name)).to.deep.equal(['id', 'name', 'rowVersion'])
      }
    })

    it('is in the bodies of the typed client, and in no row of it', () => {
      const ownership = { claimType: 'member_id', parameterName: 'id', bypassRole: 'Admin' }
      const described = describeCatalogue(makeCatalogue(library.entities), ownership, library.operations)('gateway')
      const types = clientTypesOf(described)
      const body = (name: string): string => new RegExp(`export interface ${name} \\{[^}]*\\}`).exec(types)?.[0] ?? ''
      expect(body('DoorsRow')).to.not.match(/accessCode|seal|hint|attempts|settings/)
      expect(body('DoorsCreate')).to.include('accessCode: string\n').and.include('attempts?: number\n')
      expect(body('DoorsReplace')).to.include('accessCode?: string\n').and.include('name: string\n')
      expect(body('DoorsPatch')).to.include('accessCode?: string\n')
    })
  },
  { on: 'sqlite' }
)
