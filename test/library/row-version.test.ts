import { expect } from 'chai'
import { json } from '../api/http-call.js'
import { describeLibrary } from './describe-library.js'

const LIBRARIAN = { role: 'Librarian' }
const JSON_BODY = { 'content-type': 'application/json' }

/** source.md, reads, rule 9 and contract.md section 5: no token, no ETag, no guarded write. */
describeLibrary('a resource without a row version', (store) => {
  const create = (place: string, headers = {}) =>
    store.as(LIBRARIAN, '/visits', {
      method: 'POST',
      headers: { ...JSON_BODY, ...headers },
      body: JSON.stringify({ place, notes: [{ text: 'quiet' }] })
    })
  const remove = (id: string, ifMatch?: string) =>
    store.as(LIBRARIAN, `/visits/${id}`, {
      method: 'DELETE',
      headers: ifMatch === undefined ? {} : { 'if-match': ifMatch }
    })
  const newId = async (place: string): Promise<string> => {
    const { id } = json(await create(place)) as { id: string }
    return id
  }

  it('shows none and has no ETag, in the answer of a create, its replay and reads', async () => {
    const key = { 'idempotency-key': 'a-visit' }
    const answers = [await create('Hall', key), await create('Hall', key)]
    const { id } = json(answers[0] ?? fail()) as { id: string }
    answers.push(await store.as(undefined, `/visits/${id}`))
    expect(answers.map(({ status }) => status)).to.deep.equal([201, 201, 200])
    expect(answers[1]?.headers['idempotent-replayed']).to.equal('true')
    for (const answer of answers) {
      expect(Object.keys(json(answer) as object)).to.deep.equal(['id', 'place', 'seenAt'])
      expect(answer.headers).to.not.have.property('etag')
    }
    const [listed] = json(await store.as(undefined, '/visits?includeChildren=true')) as { notes: object[] }[]
    expect(listed).to.not.have.property('rowVersion')
    expect(listed?.notes[0], 'children have one').to.have.property('rowVersion').that.has.length(12)
  })

  it('does not know its name, in fields, filters, sorts, Describe and the OpenAPI document', async () => {
    for (const name of ['rowVersion', 'rowversion', 'nothing']) {
      const fields = await store.as(undefined, `/visits?fields=${name}`)
      expect([fields.status, fields.text.includes('fields.invalid')], name).to.deep.equal([400, true])
      const sort = await store.as(undefined, `/visits/paged?sortColumn=${name}`)
      expect([sort.status, sort.text.includes('sort.property.unknown')], name).to.deep.equal([400, true])
    }
    const document = json(await store.as(undefined, '/openapi.json')) as {
      components: { schemas: Record<string, { properties: object }> }
      paths: Record<string, Record<string, { responses: Record<string, { headers?: object }> }>>
    }
    expect(Object.keys(document.components.schemas['visits']?.properties ?? {})).to.deep.equal([
      'id',
      'place',
      'seenAt',
      'notes'
    ])
    const { paths } = document
    expect(paths['/visits/{id}']?.['get']?.responses['200']?.headers).to.not.have.property('ETag')
    expect(paths['/visits']?.['post']?.responses['201']?.headers).to.not.have.property('ETag')
    expect(Object.keys(paths).filter((path) => path.startsWith('/visits/{id}'))).to.deep.equal(['/visits/{id}'])
    expect(Object.keys(paths['/visits/{id}'] ?? {})).to.have.members(['parameters', 'get', 'delete'])
  })

  it('can be deleted without a tag and with `*`; no tag matches it', async () => {
    const [plain, starred, guarded] = [await newId('a'), await newId('b'), await newId('c')]
    for (const tag of ['W/"AAAAAAAAAAE="', '"AA=="', 'W/"AAAAAAAAAAA="']) {
      const rejected = await remove(guarded, tag)
      expect([rejected.status, rejected.text.includes('"conflict"')], tag).to.deep.equal([412, true])
    }
    expect((await remove(guarded, 'W/"not base64"')).status).to.equal(400)
    expect((await remove('999999', 'W/"AAAAAAAAAAE="')).status).to.equal(404)
    expect((await remove(plain)).status).to.equal(204)
    expect((await remove(starred, '*')).status).to.equal(204)
    expect((await remove(starred, '*')).status).to.equal(404)
    const left = await store.sql.run(
      'SELECT id FROM visits WHERE id IN (?, ?, ?)',
      [plain, starred, guarded].map(Number)
    )
    expect(left.map(({ id }) => String(id))).to.deep.equal([guarded])
    const notes = await store.sql.run('SELECT visit_id FROM visit_notes WHERE visit_id IN (?, ?)', [
      Number(plain),
      Number(starred)
    ])
    expect(notes).to.deep.equal([])
  })

  it('takes no PUT', async () => {
    const put = await store.as(LIBRARIAN, `/visits/${await newId('d')}`, {
      method: 'PUT',
      headers: { ...JSON_BODY, 'if-match': 'W/"AAAAAAAAAAE="' },
      body: '{"place":"Hall"}'
    })
    expect(put.status).to.equal(405)
  })
})

function fail(): never {
  throw new Error('no answer')
}
