import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import {
  eachDatabase,
  type FreshDatabase,
  freshDatabase,
  type Stack,
  type StackAnswer,
  type StackRequest,
  startStack
} from 'uniform-rest/testing'
import { packageRoot } from '../../harness/package-root.js'

type Claims = Readonly<Record<string, unknown>>
type Row = Readonly<Record<string, unknown>>

// Each number is that of a patient and of a practitioner, who have nothing to do with each other.
const PATIENT_7: Claims = { sub: 'pat', patient_id: 7 }
const PATIENT_8: Claims = { sub: 'pete', patient_id: 8 }
const PRACTITIONER_7: Claims = { sub: 'dr-seven', practitioner_id: 7 }
const PRACTITIONER_8: Claims = { sub: 'dr-eight', practitioner_id: 8 }
const DESK: Claims = { sub: 'desk', role: 'Desk' }

const DAY = '2200-03-01'
const PAST = '2020-03-01'

/** docs/clinic.md. */
eachDatabase((kind) => {
  describe(`the clinic on ${kind}`, () => {
    let database: FreshDatabase
    let stack: Stack
    let slot = 0
    before(async () => {
      database = await freshDatabase(kind)
      stack = await startStack({ app: new URL('../../../examples/clinic/', import.meta.url), database })
    })
    after(async () => {
      await stack?.stop()
      await database?.dispose()
    })

    const as = (claims: Claims, target: string, request: StackRequest = {}): Promise<StackAnswer> =>
      stack.call(target, { ...request, token: stack.token(claims) })
    const rowOf = ({ body }: StackAnswer): Row => body as Row
    const codeOf = (answer: StackAnswer): unknown[] => [answer.status, rowOf(answer)['code']]
    const idsFor = async (claims: Claims, target: string): Promise<unknown[]> =>
      ((await as(claims, target)).body as Row[]).map(({ id }) => id)

    /** An appointment of patient 7 with practitioner 8, in a half hour of its own. */
    const book = async (more: object = {}): Promise<{ id: number; path: string; tag: string; body: object }> => {
      slot += 1
      const body = { patientId: 7, practitionerId: 8, day: DAY, slot, reason: 'a cough', room: null, ...more }
      const answer = await as(DESK, '/appointments', { body })
      expect(answer.status, answer.text).to.equal(201)
      const { id } = rowOf(answer) as { id: number }
      return { id, path: `/appointments/${id}`, tag: String(answer.headers['etag']), body }
    }
    const patch = (claims: Claims, { path, tag }: { path: string; tag: string }, body: object): Promise<StackAnswer> =>
      as(claims, path, { method: 'PATCH', ifMatch: tag, body })
    const write = async (claims: Claims, appointmentId: number): Promise<StackAnswer> =>
      as(claims, '/notes', { body: { appointmentId, text: 'Sounds better than last week.' } })

    it('shows appointments to their patient, their practitioner and the desk', async () => {
      const one = await book()
      const other = await book({ patientId: 8, practitionerId: 7 })
      for (const [claims, sees, misses] of [
        [PATIENT_7, [one.id], [other.id]],
        [PATIENT_8, [other.id], [one.id]],
        [PRACTITIONER_7, [other.id], [one.id]],
        [PRACTITIONER_8, [one.id], [other.id]],
        [DESK, [one.id, other.id], []]
      ] as const) {
        const seen = await idsFor(claims, '/appointments')
        expect(seen, String(claims['sub'])).to.include.members([...sees])
        for (const id of misses) {
          expect(seen, String(claims['sub'])).to.not.include(id)
          expect((await as(claims, `/appointments/${id}`)).status, String(claims['sub'])).to.equal(404)
        }
      }
      expect((await stack.call('/appointments')).status).to.equal(401)
      expect(codeOf(await as({ sub: 'x' }, '/appointments'))).to.deep.equal([403, 'ownership.denied'])
    })

    it('gives patients and practitioners the appointments that they make', async () => {
      const body = { day: DAY, reason: 'a cold' }
      const booked = await as(PATIENT_7, '/appointments', { body: { ...body, practitionerId: 8, slot: (slot += 1) } })
      expect(booked.status, booked.text).to.equal(201)
      expect(rowOf(booked)).to.include({ patientId: 7, practitionerId: 8, room: null })
      const offered = await as(PRACTITIONER_7, '/appointments', { body: { ...body, patientId: 8, slot: (slot += 1) } })
      expect(rowOf(offered)).to.include({ patientId: 8, practitionerId: 7 })
      const forAnother = { ...body, patientId: 8, practitionerId: 8, slot: 20 }
      const denied = await as(PATIENT_7, '/appointments', { body: forAnother })
      expect(codeOf(denied)).to.deep.equal([403, 'ownership.denied'])
    })

    it('lets a patient reach no row of another one by any write', async () => {
      const one = await book()
      const before = rowOf(await as(DESK, one.path))
      const absent = await as(PATIENT_8, '/appointments/999999', { method: 'DELETE' })
      const told = (answer: StackAnswer): object => ({ ...rowOf(answer), instance: '', requestId: '' })
      for (const claims of [PATIENT_8, PRACTITIONER_7]) {
        for (const answer of [
          await as(claims, one.path, { method: 'PUT', ifMatch: one.tag, body: one.body }),
          await patch(claims, one, { reason: 'mine now' }),
          await as(claims, one.path, { method: 'DELETE' })
        ]) {
          expect(codeOf(answer)).to.deep.equal([404, 'not-found'])
          expect(told(answer)).to.deep.equal(told(absent))
        }
        const filter = `filters[patientId].operator=equals&filters[patientId].value=7`
        expect(await idsFor(claims, `/appointments/paged?${filter}`)).to.not.include(one.id)
      }
      expect(rowOf(await as(DESK, one.path))).to.deep.equal(before)
    })

    it('lets patients change their appointments until the day itself, and others after it too', async () => {
      const later = await book()
      const moved = await patch(PATIENT_7, later, { day: '2200-03-02' })
      expect(rowOf(moved)).to.include({ day: '2200-03-02', patientId: 7 })
      const again = { ...later, tag: String(moved.headers['etag']) }
      for (const day of [PAST, new Date().toISOString().slice(0, 10)]) {
        expect(codeOf(await patch(PATIENT_7, again, { day })), day).to.deep.equal([403, 'ownership.denied'])
      }
      const past = await book({ day: PAST })
      expect(codeOf(await patch(PATIENT_7, past, { day: DAY }))).to.deep.equal([403, 'ownership.denied'])
      const deleted = await as(PATIENT_7, past.path, { method: 'DELETE' })
      expect(codeOf(deleted)).to.deep.equal([403, 'ownership.denied'])
      const byPractitioner = await patch(PRACTITIONER_8, past, { reason: 'was a cold' })
      expect(byPractitioner.status, byPractitioner.text).to.equal(200)
      const byDesk = await patch(DESK, { ...past, tag: String(byPractitioner.headers['etag']) }, { reason: 'a cold' })
      expect(byDesk.status, byDesk.text).to.equal(200)
      expect((await as(PATIENT_7, later.path, { method: 'DELETE' })).status).to.equal(204)
    })

    it('lets the desk alone say the room', async () => {
      const one = await book()
      const byPatient = await patch(PATIENT_7, one, { room: '101' })
      expect(byPatient.headers['x-ignored-parameters']).to.equal('body.room')
      expect(rowOf(byPatient)['room']).to.equal(null)
      const byDesk = await patch(DESK, { ...one, tag: String(byPatient.headers['etag']) }, { room: '101' })
      expect(rowOf(byDesk)['room']).to.equal('101')
      expect(rowOf(await as(PATIENT_7, one.path))['room']).to.equal('101')
    })

    it('gives a half hour away once', async () => {
      const taken = await book({ practitionerId: 7 })
      const other = await book({ practitionerId: 7 })
      const created = await as(PATIENT_8, '/appointments', { body: { ...taken.body, patientId: 8 } })
      expect([...codeOf(created), created.headers['conflict-reason']]).to.deep.equal([409, 'conflict', 'unique'])
      const moved = await patch(PATIENT_7, other, taken.body)
      expect([...codeOf(moved), moved.headers['conflict-reason']]).to.deep.equal([412, 'conflict', 'unique'])
      const free = { practitionerId: 9, day: DAY, slot: 1, reason: 'both at once' }
      const both = await Promise.all([PATIENT_7, PATIENT_8].map((one) => as(one, '/appointments', { body: free })))
      expect(both.map(({ status }) => status)).to.have.members([201, 409])
      expect((await as(DESK, taken.path, { method: 'DELETE' })).status).to.equal(204)
      const again = await as(PATIENT_8, '/appointments', { body: { ...taken.body, patientId: 8 } })
      expect(again.status, again.text).to.equal(201)
    })

    it('shows notes to their author alone', async () => {
      const { id } = await book()
      const written = await write(PRACTITIONER_8, id)
      expect(written.status, written.text).to.equal(201)
      expect(rowOf(written)).to.include({ authorId: 8, appointmentId: id })
      const note = { path: `/notes/${String(rowOf(written)['id'])}`, tag: String(written.headers['etag']) }
      expect(await idsFor(PRACTITIONER_8, '/notes')).to.deep.equal([rowOf(written)['id']])
      for (const claims of [PATIENT_7, PATIENT_8, PRACTITIONER_7, DESK]) {
        expect(await idsFor(claims, '/notes'), String(claims['sub'])).to.deep.equal([])
        for (const answer of [
          await as(claims, note.path),
          await patch(claims, note, { text: 'x' }),
          await as(claims, note.path, { method: 'DELETE' })
        ]) {
          expect(codeOf(answer), String(claims['sub'])).to.deep.equal([404, 'not-found'])
        }
      }
      expect(rowOf(await patch(PRACTITIONER_8, note, { text: 'Well again.' }))).to.include({ text: 'Well again.' })
    })

    it('takes notes of practitioners about their own appointments', async () => {
      const { id, path } = await book()
      for (const claims of [PATIENT_7, DESK]) {
        expect(codeOf(await write(claims, id))).to.deep.equal([403, 'ownership.denied'])
      }
      const [foreign, absent] = [await write(PRACTITIONER_7, id), await write(PRACTITIONER_7, 999_999)]
      expect(codeOf(foreign)).to.deep.equal([400, 'body.invalid'])
      expect(rowOf(foreign)['detail']).to.equal(rowOf(absent)['detail'])
      const body = { appointmentId: id, text: 'x', authorId: 7 }
      expect(codeOf(await as(PRACTITIONER_8, '/notes', { body }))).to.deep.equal([403, 'ownership.denied'])
      expect((await write(PRACTITIONER_8, id)).status).to.equal(201)
      const deleted = await as(DESK, path, { method: 'DELETE' })
      expect([...codeOf(deleted), deleted.headers['conflict-reason']]).to.deep.equal([409, 'conflict', 'referenced'])
    })
  })
})

describe('docs/clinic.md', () => {
  const page = readFileSync(join(packageRoot, 'docs/clinic.md'), 'utf8')

  it('quotes the files of the example', () => {
    const quotes = Array.from(
      page.matchAll(/^`([^`]+)`[^\n]*:\n\n```ts\n(.*?)```$/gms),
      ([, path = '', text = '']) => ({
        path,
        text
      })
    )
    expect(quotes.length).to.equal(page.match(/^```ts$/gm)?.length)
    for (const { path, text } of quotes) {
      expect(readFileSync(join(packageRoot, path), 'utf8'), path).to.include(text)
    }
    expect(new Set(quotes.map(({ path }) => path.replace(/^examples\/clinic\//, '')))).to.deep.equal(
      new Set(['uniform-rest.config.ts', 'entities/appointments.ts', 'entities/notes.ts', 'migrations/001-clinic.ts'])
    )
  })
})
