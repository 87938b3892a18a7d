import { expect } from 'chai'
import { type Answer, json } from '../api/http-call.js'
import { describeLibrary, LIBRARIAN } from './describe-library.js'

type Claims = Readonly<Record<string, unknown>>
type Row = Readonly<Record<string, unknown>>

/** May read which jury a verdict is of. */
const ADMIN: Claims = { role: 'Admin', sub: 'y' }

/** contract.md section 6: columns by permission. The entity files are contests.ts. */
describeLibrary('children whose foreign key takes a permission', (store) => {
  const post = async (claims: Claims, target: string, body: object, more: object = {}): Promise<Answer> =>
    store.as(claims, target, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...more },
      body: JSON.stringify(body)
    })
  const idOf = (answer: Answer): number => {
    expect(answer.status, answer.text).to.equal(201)
    return Number((json(answer) as Row)['id'])
  }
  let [contest, jury] = [0, 0]

  before(async () => {
    contest = idOf(await post(ADMIN, '/contests', { name: 'Poems' }))
    jury = idOf(await post(ADMIN, '/juries', { contestId: contest, name: 'First', verdicts: [{ words: 'Dull' }] }))
  })

  const words = (rows: unknown): unknown => (rows as Row[]).map((row) => row['words'])

  it('are in the answers to those who have it', async () => {
    const one = json(await store.as(ADMIN, `/juries/${jury}?includeChildren=true`)) as Row
    expect(words(one['verdicts'])).to.deep.equal(['Dull'])
    const [page] = json(await store.as(ADMIN, '/juries/paged?includeChildren=true&fields=verdicts')) as Row[]
    expect(words(page?.['verdicts'])).to.deep.equal(['Dull'])
    const [within] = (json(await store.as(ADMIN, `/contests/${contest}?includeChildren=true`)) as Row)[
      'juries'
    ] as Row[]
    expect(words(within?.['verdicts'])).to.deep.equal(['Dull'])
  })

  it('are unknown names in every answer to others, within other children too', async () => {
    for (const claims of [undefined, LIBRARIAN]) {
      const targets = [`/juries/${jury}`, '/juries', '/juries/paged', `/contests/${contest}`, '/contests/paged']
      for (const target of targets) {
        const answer = await store.as(claims, `${target}?includeChildren=true`)
        expect([answer.status, answer.text.includes('erdict'), answer.text.includes('Dull')], target).to.deep.equal([
          200,
          false,
          false
        ])
      }
      const named = await store.as(claims, '/juries?includeChildren=true&fields=verdicts')
      const unknown = await store.as(claims, '/juries?includeChildren=true&fields=nothings')
      const told = ({ text }: Answer): string => text.replaceAll(/"requestId":"[^"]*"/g, '')
      expect([named.status, told(named).replaceAll('verdicts', 'nothings')]).to.deep.equal([400, told(unknown)])
    }
  })

  it('count towards no ceiling for others', async () => {
    const [{ id }] = (await store.sql.run('SELECT id FROM juries')) as [{ id: number }]
    for (let at = 0; at < 1001; at += 1) {
      await store.sql.run("INSERT INTO verdicts (jury_id, words, row_version) VALUES (?, 'Fine', ?)", [
        id,
        Buffer.alloc(8, 1)
      ])
    }
    const cut = async (claims: Claims, target: string): Promise<unknown> =>
      (await store.as(claims, `${target}?includeChildren=true`)).headers['x-truncated-includes']
    try {
      expect(await cut(ADMIN, `/contests/${contest}`)).to.equal('juries.verdicts')
      expect(await cut(LIBRARIAN, `/contests/${contest}`)).to.equal(undefined)
      expect(await cut(LIBRARIAN, `/juries/${jury}`)).to.equal(undefined)
    } finally {
      await store.sql.run("DELETE FROM verdicts WHERE words = 'Fine'")
    }
  })

  it('are an unknown member of the bodies of others', async () => {
    const body = { contestId: contest, name: 'Second', verdicts: [{ words: 'Good' }] }
    const made = await post(LIBRARIAN, '/juries', body)
    expect(made.headers['x-ignored-parameters']).to.equal('body.verdicts')
    expect(await store.sql.run(`SELECT id FROM verdicts WHERE jury_id = ${idOf(made)}`)).to.deep.equal([])
    const wrong = await post(LIBRARIAN, '/juries', { ...body, verdicts: 5 })
    expect([wrong.status, wrong.headers['x-ignored-parameters']]).to.deep.equal([201, 'body.verdicts'])
    const strict = await post(LIBRARIAN, '/juries', body, { prefer: 'handling=strict' })
    expect([strict.status, (json(strict) as Row)['code']]).to.deep.equal([400, 'parameter.unknown'])
  })

  it('are in the documents of those alone who have it', async () => {
    const told = async (claims: Claims): Promise<string[]> => {
      const { components } = json(await store.as(claims, '/openapi.json')) as {
        components: { schemas: Record<string, object> }
      }
      return Object.entries(components.schemas).flatMap(([name, schema]) =>
        JSON.stringify(schema).includes('"verdicts"') ? [name] : []
      )
    }
    expect(await told(ADMIN)).to.include.members(['contests.juries', 'juries', 'juries.create', 'juries.field-name'])
    expect(await told(LIBRARIAN)).to.deep.equal([])
  })
})
