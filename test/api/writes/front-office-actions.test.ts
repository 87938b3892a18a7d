import { expect } from 'chai'
import { describeApi, type ApiStore } from '../api-store.js'
import type { Answer } from '../http-call.js'
import { changesNothing, select } from './stored.js'
import { etagOf, rowIn, send } from './send.js'

type Row = Readonly<Record<string, unknown>>

interface Resource {
  readonly name: string
  /** Who makes rows and who calls actions, unless `callers` says another. */
  readonly account: string
  readonly create: (store: ApiStore) => Promise<object>
  /** What a new row has besides what its create said. */
  readonly made: object
  /** How a row gets into each state. */
  readonly states: Readonly<Record<string, readonly string[]>>
  readonly actions: Readonly<Record<string, Tried>>
}

type Body = Readonly<Record<string, unknown>>

interface Tried {
  readonly body?: Body | ((store: ApiStore) => Promise<Body>)
  /** State to what the action makes of the row; in the others it is rejected, naming the state. */
  readonly does: Readonly<Record<string, object>>
  /** Whether the row is another's afterwards. */
  readonly givesAway?: true
}

const STARTS = '2027-05-01T10:00:00.000Z'
const ENDS = '2027-05-01T12:00:00.000Z'
const PERIOD = { startsAt: STARTS, endsAt: ENDS }

async function made(store: ApiStore, line: string, body: object): Promise<Row> {
  const answer = await send(store, line, { body })
  expect(answer.status, answer.text).to.equal(201)
  return rowIn(answer)
}

const venue = (store: ApiStore): Promise<Row> =>
  made(store, 'clerk POST /venues', { name: 'Hall', city: 'Lyon', capacity: 10 })

const draft = async (store: ApiStore): Promise<Row> => {
  const { id } = await venue(store)
  return made(store, 'clerk POST /events', { title: 'Tea', ...PERIOD, venueId: id })
}

async function scheduled(store: ApiStore): Promise<Row> {
  const { id, rowVersion } = await draft(store)
  const write = { body: PERIOD, ifMatch: `W/"${String(rowVersion)}"` }
  return rowIn(await send(store, `clerk PUT /events/${String(id)}/schedule`, write))
}

let otherVenue: unknown
const LATER = { startsAt: '2028-01-01T00:00:00.000Z', endsAt: '2028-01-01T00:00:00.001Z' }

const RESOURCES: readonly Resource[] = [
  {
    name: 'events',
    account: 'clerk',
    create: async (store) => ({ title: 'Tea', ...PERIOD, venueId: (await venue(store))['id'] }),
    made: { status: 'draft' },
    states: { draft: [], scheduled: ['schedule'], cancelled: ['schedule', 'cancel'] },
    actions: {
      schedule: { body: LATER, does: { draft: { status: 'scheduled', ...LATER } } },
      cancel: { does: { scheduled: { status: 'cancelled' } } },
      'change-venue': {
        body: async (store) => {
          otherVenue ??= (await venue(store))['id']
          return { venueId: otherVenue }
        },
        does: { draft: { venueId: 'other' }, scheduled: { venueId: 'other' } }
      }
    }
  },
  {
    name: 'venues',
    account: 'clerk',
    create: () => Promise.resolve({ name: 'Hall', city: 'Lyon', capacity: 10 }),
    made: { isOpen: true },
    states: { open: [], 'not open': ['close'] },
    actions: { close: { does: { open: { isOpen: false } } } }
  },
  {
    name: 'speakers',
    account: 'clerk',
    create: async (store) => ({ name: 'Ann', bio: null, eventId: (await draft(store))['id'] }),
    made: {},
    states: { unconfirmed: [], confirmed: ['confirm'] },
    // Nothing shows it.
    actions: { confirm: { does: { unconfirmed: {} } } }
  },
  {
    name: 'tickets',
    account: 'ada',
    create: async (store) => ({ eventId: (await scheduled(store))['id'], customerId: 1, seat: null, price: '9.50' }),
    made: { status: 'valid' },
    states: { valid: [], 'checked-in': ['check-in'] },
    actions: {
      transfer: { body: { customerId: 2 }, does: { valid: { customerId: 2 } }, givesAway: true },
      'check-in': { does: { valid: { status: 'checked-in' } } }
    }
  },
  {
    name: 'subscriptions',
    account: 'ada',
    create: () => Promise.resolve({ customerId: 1, plan: 'Basic', renewsAt: STARTS }),
    made: { status: 'active' },
    states: { active: [], paused: ['pause'] },
    actions: {
      pause: { does: { active: { status: 'paused' } } },
      resume: { does: { paused: { status: 'active' } } },
      'change-plan': { body: { plan: 'Plus "XL"' }, does: { active: { plan: 'Plus "XL"' } } }
    }
  }
]

describeApi(
  'actions of the front office',
  (store) => {
    before(() => (otherVenue = undefined))

    async function bodyOf({ body }: Tried): Promise<Body | undefined> {
      return typeof body === 'function' ? body(store) : body
    }

    async function act(resource: Resource, row: Row, name: string): Promise<Answer> {
      const action = resource.actions[name] ?? { does: {} }
      const body = await bodyOf(action)
      const line = `${resource.account} PUT /${resource.name}/${String(row['id'])}/${name}`
      return send(store, line, { ...(body && { body }), ifMatch: `W/"${String(row['rowVersion'])}"` })
    }

    async function inState(resource: Resource, state: string): Promise<Row> {
      const body = await resource.create(store)
      let row = await made(store, `${resource.account} POST /${resource.name}`, body)
      const { id: _id, rowVersion: _version, ...rest } = row
      expect(rest).to.deep.equal({ ...body, ...resource.made })
      for (const name of resource.states[state] ?? []) {
        const answer = await act(resource, row, name)
        expect(answer.status, answer.text).to.equal(200)
        row = rowIn(answer)
      }
      return row
    }

    for (const resource of RESOURCES) {
      for (const state of Object.keys(resource.states)) {
        for (const [name, action] of Object.entries(resource.actions)) {
          const effect = action.does[state]
          it(`${name} of ${resource.name} that are ${state} is ${effect === undefined ? 'rejected' : 'done'}`, async () => {
            const row = await inState(resource, state)
            if (effect === undefined) {
              // What else an action needs is made before anything is compared.
              await bodyOf(action)
              const rejected = await changesNothing(store, () => act(resource, row, name))
              store.problem(rejected, { status: 422, code: 'state.invalid', says: state })
              return
            }
            const answer = await act(resource, row, name)
            expect(answer.status, answer.text).to.equal(200)
            const shown = await store.as('admin', `/${resource.name}/${String(row['id'])}`)
            // The answer shows no row that the caller's reads would not.
            if (action.givesAway === true)
              expect([rowIn(answer), answer.headers['etag']]).to.deep.equal([{ id: row['id'] }, undefined])
            const { rowVersion, ...after } = rowIn(action.givesAway === true ? shown : answer)
            const { rowVersion: before, ...unchanged } = row
            const changed = 'venueId' in effect ? { venueId: otherVenue } : effect
            expect(after).to.deep.equal({ ...unchanged, ...changed })
            expect(rowVersion).not.to.equal(before)
            if (action.givesAway !== true) {
              expect(etagOf(answer)).to.equal(`W/"${String(rowVersion)}"`)
              expect(answer.bytes).to.deep.equal(shown.bytes)
            }
            const [entry] = await select(
              store,
              'SELECT resource, row_id, action FROM ur_audit_entries ORDER BY id DESC LIMIT 1'
            )
            expect(entry).to.deep.equal({ resource: resource.name, row_id: String(row['id']), action: name })
          })
        }
      }
    }

    const put = (line: string, row: Row, body: object): Promise<Answer> =>
      send(store, line, { body, ifMatch: `W/"${String(row['rowVersion'])}"` })
    const invalid = (answer: Answer, pointer: string): unknown =>
      store.problem(answer, { status: 400, code: 'body.invalid', violations: [{ code: 'body.invalid', pointer }] })
    const wrongState = (answer: Answer, says: string): unknown =>
      store.problem(answer, { status: 422, code: 'state.invalid', says })
    const conflict = (answer: Answer, status: 409 | 412): unknown => store.problem(answer, { status, code: 'conflict' })

    it('events end after they start, whichever way they are written', async () => {
      const event = await draft(store)
      const path = `/events/${String(event['id'])}`
      for (const period of [
        { startsAt: ENDS, endsAt: STARTS },
        { startsAt: STARTS, endsAt: STARTS },
        { startsAt: STARTS, endsAt: '2027-05-01T12:00:00+02:00' }
      ]) {
        const body = { title: 'Tea', venueId: event['venueId'], ...period }
        for (const write of [
          () => send(store, 'clerk POST /events', { body }),
          () => put(`clerk PUT ${path}`, event, body),
          () => put(`clerk PUT ${path}/schedule`, event, period)
        ]) {
          invalid(await changesNothing(store, write), '/endsAt')
        }
      }
    })

    it('events come to venues that are there and open, and stay at one that closes', async () => {
      const event = await draft(store)
      const path = `/events/${String(event['id'])}`
      const closed = await venue(store)
      await put(`clerk PUT /venues/${String(closed['id'])}/close`, closed, {})
      const body = { title: 'Tea', ...PERIOD }
      for (const [venueId, expected] of [
        [closed['id'], (answer: Answer) => wrongState(answer, 'closed')],
        [999_999, (answer: Answer) => invalid(answer, '/venueId')]
      ] as const) {
        for (const write of [
          () => send(store, 'clerk POST /events', { body: { ...body, venueId } }),
          () => put(`clerk PUT ${path}`, event, { ...body, venueId }),
          () => put(`clerk PUT ${path}/change-venue`, event, { venueId })
        ]) {
          expected(await changesNothing(store, write))
        }
      }
      const own = rowIn(await store.call(`/venues/${String(event['venueId'])}`))
      await put(`clerk PUT /venues/${String(own['id'])}/close`, own, {})
      const kept = await put(`clerk PUT ${path}`, event, { ...body, title: 'Coffee', venueId: own['id'] })
      expect(rowIn(kept)).to.include({ title: 'Coffee', venueId: own['id'], status: 'draft' })
    })

    it('a venue is open until it says otherwise, and a PUT opens it again', async () => {
      const body = { name: 'Hall', city: 'Lyon', capacity: 0 }
      const shut = await made(store, 'clerk POST /venues', { ...body, isOpen: false })
      expect(shut).to.include({ isOpen: false })
      expect(rowIn(await put(`clerk PUT /venues/${String(shut['id'])}`, shut, { ...body, isOpen: true }))).to.include({
        isOpen: true
      })
      conflict(await send(store, `clerk DELETE /venues/${String((await draft(store))['venueId'])}`), 409)
    })

    it('a speaker who is confirmed stays so through a PUT, and shows it nowhere', async () => {
      const event = await draft(store)
      const speaker = await made(store, 'clerk POST /speakers', {
        name: 'Ann',
        eventId: event['id'],
        isConfirmed: true
      })
      expect(speaker).to.have.all.keys(['id', 'name', 'bio', 'eventId', 'rowVersion'])
      const path = `/speakers/${String(speaker['id'])}`
      const confirmed = rowIn(await put(`clerk PUT ${path}/confirm`, speaker, {}))
      const body = { name: 'Ann B.', bio: 'x', eventId: event['id'], isConfirmed: false }
      const renamed = await put(`clerk PUT ${path}`, confirmed, body)
      expect(renamed.headers['x-ignored-parameters']).to.equal('body.isConfirmed')
      wrongState(await put(`clerk PUT ${path}/confirm`, rowIn(renamed), {}), 'confirmed')
    })

    it('there are tickets to scheduled events only', async () => {
      const event = await draft(store)
      const path = `/events/${String(event['id'])}`
      const body = { eventId: event['id'], price: '1.00' }
      const buy = (): Promise<Answer> => send(store, 'ada POST /tickets', { body })
      wrongState(await changesNothing(store, buy), 'draft')
      const announced = rowIn(await put(`clerk PUT ${path}/schedule`, event, PERIOD))
      expect(rowIn(await buy())).to.include({ customerId: 1, seat: null, status: 'valid', price: '1.00' })
      await put(`clerk PUT ${path}/cancel`, announced, {})
      wrongState(await changesNothing(store, buy), 'cancelled')
      invalid(await send(store, 'ada POST /tickets', { body: { ...body, eventId: 999_999 } }), '/eventId')
    })

    it('a ticket of an event that is cancelled lets nobody in and changes hands no more', async () => {
      const event = await scheduled(store)
      const ticket = await made(store, 'ada POST /tickets', { eventId: event['id'], price: '1' })
      const path = `/tickets/${String(ticket['id'])}`
      await put(`clerk PUT /events/${String(event['id'])}/cancel`, event, {})
      for (const [name, body] of [
        ['check-in', {}],
        ['transfer', { customerId: 2 }]
      ] as const) {
        const rejected = await changesNothing(store, () => put(`ada PUT ${path}/${name}`, ticket, body))
        wrongState(rejected, `The event is cancelled; ${name} needs one that takes place.`)
      }
    })

    it('a ticket that is given away is gone for the giver and there for the taker', async () => {
      const ticket = await made(store, 'ada POST /tickets', { eventId: (await scheduled(store))['id'], price: '1' })
      const path = `/tickets/${String(ticket['id'])}`
      for (const customerId of [3, 999_999]) {
        const rejected = await changesNothing(store, () => put(`ada PUT ${path}/transfer`, ticket, { customerId }))
        // One who is suspended and one that there is not, in the same words.
        wrongState(rejected, `Customer ${customerId} can take no tickets; transfer needs a customer who can.`)
      }
      expect(rowIn(await put(`ada PUT ${path}/transfer`, ticket, { customerId: 2 }))).to.deep.equal({
        id: ticket['id']
      })
      const given = rowIn(await store.as('ben', path))
      expect(given).to.include({ id: ticket['id'], customerId: 2 })
      for (const line of [`ada GET ${path}`, `ada PUT ${path}/transfer`, `ada DELETE ${path}`]) {
        store.problem(await put(line, given, { customerId: 1 }), { status: 404, code: 'not-found' })
      }
    })

    it('annotate replaces a note, and takes it away by null alone', async () => {
      let row = await made(store, 'ada POST /bookmarks', { sessionId: 7, note: 'first' })
      expect(row).to.include({ userId: 1, sessionId: 7, note: 'first' })
      const path = `/bookmarks/${String(row['id'])}/annotate`
      for (const note of ['=1+1\n"x"', '', null]) {
        const answer = await put(`ada PUT ${path}`, row, { note })
        expect(answer.status, answer.text).to.equal(200)
        const { rowVersion: _before, ...before } = row
        const { rowVersion: _after, ...after } = rowIn(answer)
        expect(after, String(note)).to.deep.equal({ ...before, note })
        row = rowIn(answer)
      }
      invalid(await put(`ada PUT ${path}`, row, {}), '/note')
      invalid(await put(`ada PUT ${path}`, row, { note: 'x'.repeat(2001) }), '/note')
    })

    it('a user bookmarks a session once, whatever others do', async () => {
      const bookmark = (account: string, sessionId: number): Promise<Answer> =>
        send(store, `${account} POST /bookmarks`, { body: { sessionId } })
      expect((await bookmark('ada', 40)).status).to.equal(201)
      expect((await bookmark('ben', 40)).status).to.equal(201)
      expect((await bookmark('ada', 41)).status).to.equal(201)
      conflict(await changesNothing(store, () => bookmark('ada', 40)), 409)
    })

    it('neither status nor moments of the service are taken from a body', async () => {
      const sent = { customerId: 1, plan: 'Basic', renewsAt: STARTS, status: 'paused', id: 77 }
      const answer = await send(store, 'ada POST /subscriptions', { body: sent })
      expect(rowIn(answer)).to.include({ status: 'active', renewsAt: STARTS })
      expect(answer.headers['x-ignored-parameters']).to.equal('body.status,body.id')
      const bookmark = await send(store, 'ada POST /bookmarks', { body: { sessionId: 90, createdAt: STARTS } })
      expect(rowIn(bookmark)['createdAt']).not.to.equal(STARTS)
    })
  },
  { on: 'sqlite' }
)
