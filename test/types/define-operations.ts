import { authenticated, everyone, permission } from '../../data-service/entity/access.js'
import { reject } from '../../data-service/entity/action.js'
import { defineEntity } from '../../data-service/entity/define-entity.js'
import { decimal, hidden, int, optional, readableBy, readOnly, text } from '../../data-service/entity/fields/words.js'
import { defineOperation } from '../../data-service/entity/define-operation.js'
import { list, object } from '../../data-service/entity/fields/shape.js'

// Operations of an application's own. Each `@ts-expect-error` is a test: the compiler reports the line when what follows
// compiles after all.
const things = defineEntity({
  name: 'things',
  description: '',
  fields: {
    id: readOnly(int()),
    name: text(9),
    price: decimal(8, 2),
    cost: readableBy('things:cost', int()),
    secret: hidden(text(9))
  },
  label: 'name',
  filterable: [],
  sortable: [],
  access: { read: everyone }
})

const get = { name: 'a', route: 'GET /reports/a', description: '', access: everyone } as const
const post = { name: 'b', route: 'POST /reports/b', description: '', access: authenticated } as const

/** What the mistakes below are variations of: all of this compiles. */
export const sound = [
  defineOperation({
    ...get,
    query: { n: int() },
    answer: list({ a: text(9) }),
    procedures: { p: { parameters: { n: int(), at: optional(text(9)) }, columns: { a: text(9) } }, q: {} },
    async handle({ query: { n }, callProcedure }) {
      const nothing: void = await callProcedure('q', {})
      return nothing ?? (await callProcedure('p', { n, at: null }))
    }
  }),
  defineOperation({ ...get, handle: () => undefined }),
  defineOperation({
    ...get,
    route: 'GET /reports/{id}/of/{name}',
    path: { id: int(), name: text(9) },
    query: { most: optional(int()) },
    answer: { n: int(), rows: list({ id: int(), tags: list(text(9)) }), at: object({ x: optional(int()) }) },
    async handle({ path: { id, name }, query: { most }, rows }) {
      const found = await rows(things).list({
        where: ({ where }) => where('name', 'equals', name),
        sort: ['-price', 'id'],
        limit: most ?? 7
      })
      const [one] = found
      if (one?.cost === undefined) return reject.notFound('No.')
      const price: string = one.price
      return { n: id + price.length, rows: found.map((row) => ({ id: row.id, tags: [] })), at: { x: null } }
    }
  }),
  defineOperation({
    ...post,
    body: { ids: list(int()), note: optional(text(9)) },
    answer: list({ id: int() }),
    status: 202,
    handle: async ({ body: { ids, note }, caller, run, select, write }) => {
      await run('UPDATE things SET name = $note', { note, by: caller.subject })
      await write({ create: [{ resource: 'things', values: { name: 'x' } }] })
      const rows = await select('SELECT id FROM things WHERE id > $id', { id: ids[0] ?? 0 }, { id: int() })
      return rows.map(({ id }) => ({ id }))
    }
  }),
  defineOperation({ ...get, route: 'DELETE /reports/a', access: permission('things:manage'), async handle() {} })
]

const { access: _access, ...withoutAccess } = get
const nothing = (): undefined => undefined

export const operationsThatAreNone = [
  // @ts-expect-error who may call it is said
  defineOperation({ ...withoutAccess, handle: nothing }),
  // @ts-expect-error a write takes a token
  defineOperation({ ...post, access: everyone, handle: nothing }),
  // @ts-expect-error no such method
  defineOperation({ ...get, route: 'PATCH /reports/a', handle: nothing }),
  // @ts-expect-error a path begins with a slash
  defineOperation({ ...get, route: 'GET reports/a', handle: nothing }),
  // @ts-expect-error a GET has no body
  defineOperation({ ...get, body: { a: int() }, handle: nothing }),
  // @ts-expect-error nor has a DELETE
  defineOperation({ ...post, route: 'DELETE /reports/a', body: { a: int() }, handle: nothing }),
  // @ts-expect-error the parameters of a path are declared
  defineOperation({ ...get, route: 'GET /reports/{id}', handle: nothing }),
  // @ts-expect-error each of them
  defineOperation({ ...get, route: 'GET /reports/{id}/{name}', path: { id: int() }, handle: nothing }),
  // @ts-expect-error and no other
  defineOperation({ ...get, path: { id: int() }, handle: nothing }),
  // @ts-expect-error a parameter is no hidden column
  defineOperation({ ...get, query: { a: hidden(int()) }, handle: nothing }),
  // @ts-expect-error no such status of an answer
  defineOperation({ ...get, status: 404, handle: nothing })
]

export const handlersThatAreNone = [
  // @ts-expect-error a parameter that is used is declared
  defineOperation({ ...get, query: { a: int() }, handle: ({ query }) => void query.b }),
  // @ts-expect-error a GET writes nothing
  defineOperation({ ...get, handle: ({ run }) => void run }),
  // @ts-expect-error and has no body
  defineOperation({ ...get, handle: ({ body }) => void body }),
  // @ts-expect-error a caller of everyone's may have no token
  defineOperation({ ...get, handle: ({ caller }) => void caller.subject }),
  // @ts-expect-error a member of the answer is of its type
  defineOperation({ ...get, answer: { a: int() }, handle: () => ({ a: 'x' }) }),
  // @ts-expect-error and is there
  defineOperation({ ...get, answer: { a: int(), b: int() }, handle: () => ({ a: 1 }) }),
  // @ts-expect-error of a list too
  defineOperation({ ...get, answer: list({ a: int() }), handle: async () => [{ a: null }] }),
  // @ts-expect-error an answer is declared
  defineOperation({ ...get, handle: () => ({ a: 1 }) }),
  // @ts-expect-error a row has the columns of its entity
  defineOperation({ ...get, handle: async ({ rows }) => void (await rows(things).get(1))?.nmae }),
  // @ts-expect-error hidden ones only where that is spelled out
  defineOperation({ ...get, handle: async ({ rows }) => void (await rows(things).get(1))?.secret }),
  // @ts-expect-error an id is of its type
  defineOperation({ ...get, handle: async ({ rows }) => void (await rows(things).get('1')) }),
  // @ts-expect-error an order is by what every reader sees
  defineOperation({ ...get, handle: async ({ rows }) => void (await rows(things).list({ sort: ['cost'] })) }),
  defineOperation({
    ...get,
    answer: { n: int() },
    // @ts-expect-error what takes a permission to read may be missing
    handle: async ({ rows }) => ({ n: (await rows(things).get(1))?.cost ?? undefined })
  }),
  // @ts-expect-error a SELECT says what it selects
  defineOperation({ ...get, handle: async ({ select }) => void (await select('SELECT 1', {})) }),
  defineOperation({
    ...get,
    procedures: { p: {} },
    // @ts-expect-error a procedure that is called is declared
    handle: ({ callProcedure }) => callProcedure('q', {})
  }),
  defineOperation({
    ...get,
    procedures: { p: { parameters: { n: int() } } },
    // @ts-expect-error it has all of its parameters
    handle: ({ callProcedure }) => callProcedure('p', {})
  }),
  defineOperation({
    ...get,
    procedures: { p: { parameters: { n: int() } } },
    // @ts-expect-error of their types
    handle: ({ callProcedure }) => callProcedure('p', { n: 'x' })
  })
]
