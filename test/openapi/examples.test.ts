import { expect } from 'chai'
import { entities } from '../../examples/store/entities/index.js'
import type { FreshDatabase } from '../harness/database.js'
import { storeDatabase } from '../harness/store-database.js'
import { runAccountCommand } from '../harness/account-command.js'
import { JudgedDocument } from '../harness/judged-document.js'
import { inside, type Json } from '../harness/openapi-document.js'
import { startStack, type Stack } from '../harness/stack.js'
import { type Answer, call } from '../stack/http-call.js'
import {
  differences,
  type DocumentedOperation,
  operationsIn,
  type SentValues,
  withVersions
} from './documented-examples.js'
import { FAILING } from './problem-examples.js'

/** The first segments of the operations of resources and of the application, and whether rows can be created there. */
const RESOURCES = [
  ...entities.map(({ name, writes }) => [name, writes.has('create')] as const),
  ['reports', false] as const
]

/** Rows that are tried with an action before its example counts as one that no row takes. */
const MOST_ROWS = 400

// On SQLite alone: that both databases take the same requests is held by the tests of every entity.
describe('the examples of /openapi.json', () => {
  let database: FreshDatabase
  let stack: Stack
  let token: string
  let document: Json
  let judge: JudgedDocument
  let operations: readonly DocumentedOperation[]

  before(async () => {
    database = await storeDatabase('sqlite', 'sample')
    stack = await startStack({ database })
    token = await stack.token('admin@example.com')
    document = JSON.parse((await call(stack.url, '/openapi.json?exact=true', { token })).text) as Json
    judge = new JudgedDocument(document)
    operations = operationsIn(document)
    expect(operations).to.have.length.greaterThan(200)
    // A write without a place in the examples, so that there is an entry of the audit trail to read.
    const body = JSON.stringify({ name: 'Written', country: 'NO' })
    const headers = { 'content-type': 'application/json' }
    const { status } = await call(stack.url, '/suppliers', { method: 'POST', token, headers, body })
    expect(status).to.equal(201)
  })
  after(async () => {
    await stack.stop()
    await database.dispose()
  })

  /** Sends the values. The answer, and how it is not what the document shows. */
  async function send(
    operation: DocumentedOperation,
    { target, body, version }: SentValues
  ): Promise<{ readonly answer: Answer; readonly found: readonly string[] }> {
    const text = body === undefined ? undefined : JSON.stringify(body)
    const headers = {
      authorization: `Bearer ${token}`,
      ...(text === undefined ? {} : { 'content-type': operation.mediaType }),
      ...(version === undefined ? {} : { 'if-match': `W/"${version}"` })
    }
    const sent = { method: operation.method.toUpperCase(), target, headers, body: text }
    const answer = await call(stack.url, target, {
      method: sent.method,
      headers: { ...headers, ...(text === undefined ? {} : { 'content-length': Buffer.byteLength(text) }) },
      ...(text === undefined ? {} : { body: text })
    })
    const named = `${sent.method} ${target}`
    if (answer.status !== operation.status) return { answer, found: [`${named}: ${answer.status} ${answer.text}`] }
    const found = [
      ...judge.refusals(sent),
      ...judge.differences(sent, answer),
      ...differences(operation.answer, operation.read(answer.text))
    ]
    return { answer, found: found.map((one) => `${named}: ${one}`) }
  }

  async function withChildren<T>(path: string): Promise<T> {
    return JSON.parse((await call(stack.url, `${path}?includeChildren=true`, { token })).text) as T
  }

  it('are there for the body of every request and of every answer that is JSON or a file', () => {
    const without = operations.filter(
      ({ hasBody, body, hasAnswer, answer }) => (hasBody && body === undefined) || (hasAnswer && answer === undefined)
    )
    expect(without.map(({ method, path }) => `${method} ${path}`)).to.deep.equal([])
  })

  it('match the schemas beside them', () => {
    expect(judge.faultsOfExamples()).to.deep.equal([])
  })

  it('of sessions are requests that the service accepts, and answers as it gives them', async () => {
    const examples = inside(document, 'components', 'examples') as Readonly<Record<string, Json>>
    const [login, token, password, none] = ['Login', 'AccessToken', 'PasswordChange', 'NoSession'].map(
      (name) => examples[name]?.['value']
    )
    const { email, password: first } = login as { readonly email: string; readonly password: string }
    const added = await runAccountCommand(['add', email], { env: stack.env, line: first })
    expect(added.errors).to.equal('')
    const post = (target: string, body: unknown, cookie = ''): Promise<Answer> =>
      call(stack.url, target, {
        method: 'POST',
        headers: { ...(cookie === '' ? {} : { cookie }), 'content-type': 'application/json' },
        body: JSON.stringify(body)
      })
    const session = await post('/auth/login', login)
    expect([session.status, differences(token, JSON.parse(session.text))]).to.deep.equal([200, []])
    const cookies = (session.headers['set-cookie'] ?? []).map((line) => line.split(';', 1)).join('; ')
    const again = await post('/auth/session/token', {}, cookies)
    expect([again.status, differences(token, JSON.parse(again.text))]).to.deep.equal([200, []])
    expect((await post('/auth/password', password, cookies)).status).to.equal(204)
    expect(JSON.parse((await post('/auth/session/token', {})).text)).to.deep.equal(none)
    const health = await call(stack.url, '/health')
    expect(JSON.parse(health.text)).to.deep.equal(examples['Health']?.['value'])
  })

  it('of problems are what the service answers', async () => {
    const examples = inside(document, 'components', 'examples') as Readonly<Record<string, Json>>
    for (const [code, { account = 'admin', target, ...request }] of Object.entries(FAILING)) {
      const as = account === 'nobody' ? {} : { token: await stack.token(`${account}@example.com`) }
      const { status, text } = await call(stack.url, target, { ...as, ...request })
      const example = examples[`problem.${code}`]?.['value'] as Json
      const { instance, requestId, ...problem } = JSON.parse(text) as Json
      expect({ ...problem, instance: '', requestId: '' }).to.deep.equal({ ...example, instance: '', requestId: '' })
      expect([status, typeof instance, typeof requestId]).to.deep.equal([example['status'], 'string', 'string'])
    }
  })

  for (const [resource, isWritten] of RESOURCES) {
    it(`of ${resource} are requests that the service accepts, and answers as it gives them`, async () => {
      const all = operations.filter((one) => one.resource === resource)
      const by = (method: string, path: string): DocumentedOperation | undefined =>
        all.find((one) => one.method === method && one.path === path)
      const found: string[] = []
      // Of every resource that can be created in as many steps as it takes: a row, which is written and removed, since a
      // second one with the same values would collide with it.
      const create = by('post', `/${resource}`)
      expect(create !== undefined, 'can be created').to.equal(isWritten)
      if (create !== undefined) {
        const made = await send(create, { target: create.path, body: create.body })
        found.push(...made.found, ...notKept(create.body, made.answer))
        const row = JSON.parse(made.answer.text) as Json
        let version = String(row['rowVersion'])
        for (const method of ['put', 'patch']) {
          const write = by(method, `/${resource}/{id}`)
          if (write === undefined) continue
          const written = await send(write, { target: write.target(row), body: write.body, version })
          found.push(...written.found, ...notKept(write.body, written.answer))
          version = String((JSON.parse(written.answer.text) as Json)['rowVersion'])
        }
        for (const write of all.filter(({ method, path }) => method === 'put' && path.includes('/by/'))) {
          // The example of the body has a value of the property, which must be that of the path.
          const target = write.target(
            JSON.parse((await call(stack.url, `/${resource}/${String(row['id'])}`, { token })).text) as Json
          )
          const written = await send(write, { target, body: write.body, version })
          found.push(...written.found)
          version = String((JSON.parse(written.answer.text) as Json)['rowVersion'])
        }
        const remove = by('delete', `/${resource}/{id}`)
        if (remove !== undefined) found.push(...(await send(remove, { target: remove.target(row) })).found)
      }
      const rows = new Map<unknown, Json>()
      const batch = by('post', `/${resource}/batch`)
      if (batch !== undefined) {
        const made = await send(batch, { target: batch.path, body: batch.body })
        found.push(...made.found)
        for (const { id } of JSON.parse(made.answer.text) as readonly Json[]) {
          rows.set(id, await withChildren(`/${resource}/${String(id)}`))
        }
      }
      // What a history has depends on what was written before: test/api/history.test.ts holds it to the document.
      for (const read of all.filter(({ method, path }) => method === 'get' && !path.endsWith('/history'))) {
        // No row has the example of a unique property unless it was just made.
        const named = read.path.includes('/by/') ? (await withChildren<readonly Json[]>(`/${resource}`))[0] : {}
        found.push(...(await send(read, { target: read.target(named ?? {}) })).found)
      }
      const actions = all.filter(({ method, path }) => method === 'put' && /\{id\}\/./.test(path))
      const others = actions.length === 0 ? [] : await withChildren<readonly Json[]>(`/${resource}`)
      for (const row of others.slice(0, MOST_ROWS)) rows.set(row['id'], row)
      for (const action of actions) found.push(...(await sendToSome(action, rows)))
      expect(found).to.deep.equal([])
    })
  }

  /** Sends an action to rows until one is in the state that it needs. How the last answer was not as shown. */
  async function sendToSome(action: DocumentedOperation, rows: Map<unknown, Json>): Promise<readonly string[]> {
    let found: readonly string[] = [`No row takes ${action.path}.`]
    for (const [id, row] of rows) {
      const body = withVersions(action.body as Json, row)
      if (body === undefined) continue
      const sent = await send(action, { target: action.target(row), body, version: String(row['rowVersion']) })
      found = sent.found
      if (sent.answer.status !== action.status) continue
      rows.set(id, await withChildren(`/${action.resource}/${String(id)}`))
      break
    }
    return found
  }

  it('of the parameters of reads are accepted', async () => {
    const found: string[] = []
    for (const read of operations.filter(({ method, path }) => method === 'get' && path.endsWith('/paged'))) {
      const given = read.optionalParameters()
      expect([...given.keys()]).to.include.members(['sortColumn', 'sortDirection', 'fields'])
      const queries = [
        [...given].filter(([name]) => !name.startsWith('filters')),
        ...[...given]
          .filter(([name]) => name.endsWith('.operator'))
          .map(([name, operator]) => [
            [name, operator] as const,
            [name.replace('.operator', '.value'), given.get(name.replace('.operator', '.value'))] as const
          ])
      ]
      expect(queries, read.path).to.have.length.greaterThan(2)
      for (const query of queries) {
        const target = `${read.path}?${query.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join('&')}`
        const { status, headers, text } = await call(stack.url, target, { token })
        if (status !== 200 || 'x-ignored-parameters' in headers) found.push(`${target}: ${status} ${text}`)
      }
    }
    expect(found).to.deep.equal([])
  })

  it('show nobody what the caller may not see', async () => {
    const seen = async (account?: string): Promise<string> => {
      const as = account === undefined ? {} : { token: await stack.token(`${account}@example.com`) }
      return (await call(stack.url, '/openapi.json?exact=true', as)).text
    }
    // The examples of costs, of what is computed of them, and of the limits of customers.
    expect(await seen('admin'))
      .to.include('"costPrice":"9.35"')
      .and.include('"margin":"10.55"')
    expect(await seen('admin')).to.include('"creditLimit":"500.00"')
    expect(await seen('clerk'))
      .to.include('"costPrice":"9.35"')
      .and.not.include('500.00')
    for (const account of [undefined, 'ada']) {
      expect(await seen(account), account).to.not.match(/9\.35|10\.55|500\.00|costPrice|margin"|creditLimit/)
    }
  })
})

/** Members of a request that the row in the answer has with other values. */
function notKept(body: unknown, { status, text }: Answer): readonly string[] {
  if (status >= 400) return []
  const row = JSON.parse(text) as Json
  return Object.entries(body as Json)
    .filter(([name, value]) => row[name] !== undefined && JSON.stringify(row[name]) !== JSON.stringify(value))
    .map(([name]) => `${name} is ${JSON.stringify(row[name])} in the answer.`)
}
