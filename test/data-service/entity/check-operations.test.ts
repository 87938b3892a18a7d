import { expect } from 'chai'
import { everyone, permission } from '../../../data-service/entity/access.js'
import { defineEntity } from '../../../data-service/entity/define-entity.js'
import {
  binary,
  int,
  optional,
  setOf,
  readOnly,
  requiredNullable,
  text
} from '../../../data-service/entity/fields/words.js'
import { defineOperation, type Operation } from '../../../data-service/entity/define-operation.js'
import { list, object } from '../../../data-service/entity/fields/shape.js'
import { CatalogueError, checkCatalogue } from '../../../data-service/entity/validation/validate.js'

const things = defineEntity({
  name: 'things',
  description: '',
  fields: { id: readOnly(int()), name: text(9) },
  label: 'name',
  filterable: [],
  sortable: ['id'],
  access: { read: everyone }
})

function mistakes(...operations: Operation[]): readonly string[] {
  try {
    checkCatalogue([things], { permissions: ['things:manage'], hasSecondStore: false, operations })
    return []
  } catch (error) {
    if (error instanceof CatalogueError) return error.mistakes
    throw error
  }
}

/** An operation that got round its types, as a careless cast or plain JavaScript does. */
const careless = (definition: object): Operation =>
  defineOperation({
    name: 'a',
    route: 'GET /reports/a',
    description: '',
    access: everyone,
    handle: () => undefined,
    ...definition
  } as unknown as Parameters<typeof defineOperation>[0])

describe('checkCatalogue, of operations', () => {
  it('finds nothing wrong with sound ones', () => {
    const sound = [
      careless({ answer: { a: int(), b: list(int()), c: object({ d: optional(int()) }) } }),
      careless({ name: 'b', route: 'POST /reports/a', access: permission('things:manage'), body: { a: int() } }),
      careless({ name: 'c', route: 'GET /reports/{id}', path: { id: int() } }),
      careless({ name: 'd', route: 'PUT /reports/{id}', path: { id: int() }, access: permission('things:manage') }),
      careless({ name: 'e', route: 'GET /thing-reports' })
    ]
    expect(mistakes(...sound)).to.deep.equal([])
  })

  it('tells the mistakes of all operations at once, beside those of entities', () => {
    expect(mistakes(careless({ route: 'GET /things/a' }), careless({ route: 'GET /auth/a', name: 'B' }))).to.deep.equal(
      [
        'operation `a`: `/things/a` is below the resource `things`.',
        'operation `B`: the name must be kebab-case such as `close-month`.',
        'operation `B`: the gateway keeps `/auth` for itself.'
      ]
    )
  })

  for (const path of ['auth', 'problems', 'health', 'metrics', 'admin', 'docs', '.well-known', 'openapi.json', '']) {
    it(`keeps /${path} for the gateway`, () => {
      expect(mistakes(careless({ route: `GET /${path}/a` }))).to.have.length(1)
      expect(mistakes(careless({ route: `GET /${path}` }))).to.have.length(1)
    })
  }

  const CASES: Record<string, [definition: object, mistake: RegExp]> = {
    'a procedure whose name ends the quotes': [
      { procedures: { 'a`b': {} } },
      /procedure `a`b`: a name in the database/
    ],
    'a word of a procedure that there is not': [
      { procedures: { p: { column: {} } } },
      /procedures\.p: there is no `column`/
    ],
    'a word that there is not': [
      { name: 'z', route: 'GET /z', acces: permission('things:manage') },
      /operation `z`: there is no `acces`. Did you mean "access"/
    ],
    'the permission of an action': [
      { name: 'z', route: 'GET /z', permission: 'things:manage' },
      /operation `z`: there is no `permission`\.$/
    ],
    'a name that is taken': [{ route: 'GET /reports/z' }, /there are two operations of this name/],
    'a path that is taken': [{ name: 'z' }, /`GET \/reports\/a` is that of `a` already/],
    'a method that nobody has': [{ name: 'z', route: 'FETCH /reports/z' }, /`FETCH` is none of GET, POST, PUT, DELETE/],
    'a path with odd letters': [{ name: 'z', route: 'GET /reports/A_b' }, /must be kebab-case segments/],
    'a path that begins with a parameter': [{ name: 'z', route: 'GET /{id}', path: { id: int() } }, /behind the first/],
    'a path with a slash at its end': [{ name: 'z', route: 'GET /reports/' }, /must be kebab-case segments/],
    'a parameter of the path that is not declared': [{ name: 'z', route: 'GET /reports/{id}' }, /path lacks `id`/],
    'a declared one that the path lacks': [
      { name: 'z', route: 'GET /z', path: { id: int() } },
      /`id` is no parameter of/
    ],
    'an optional one': [
      { name: 'z', route: 'GET /z/{id}', path: { id: optional(int()) } },
      /path: `id` is always there/
    ],
    'one that comes twice': [{ name: 'z', route: 'GET /z/{id}/{id}', path: { id: int() } }, /names a parameter twice/],
    'no access': [{ name: 'z', route: 'GET /z', access: undefined }, /access must be everyone, authenticated or/],
    'an access that is none': [{ name: 'z', route: 'GET /z', access: { kind: 'rows' } }, /access must be everyone/],
    'a permission that no role has': [
      { name: 'z', route: 'GET /z', access: permission('thing:manage') },
      /`thing:manage` is given to no role. Did you mean "things:manage"/
    ],
    'a write for everyone': [{ name: 'z', route: 'POST /z' }, /a write takes a token/],
    'a GET with a body': [{ name: 'z', route: 'GET /z', body: { a: int() } }, /a GET has no body/],
    'a text of no length': [{ name: 'z', route: 'GET /z', query: { a: text(0) } }, /query: `a` needs a maximum length/],
    'a query that is null': [{ name: 'z', route: 'GET /z', query: { a: requiredNullable(int()) } }, /never null/],
    'a set in a query': [
      { name: 'z', route: 'GET /z', query: { a: setOf(['x']) } },
      /query: `a` is set, which no parameter of a path or a query can be/
    ],
    'bytes in a path': [
      { name: 'z', route: 'GET /z/{id}', path: { id: binary(4) } },
      /path: `id` is binary, which no parameter of a path or a query can be/
    ],
    'a member called as one of every object': [
      { name: 'z', route: 'GET /z', answer: { toString: int() } },
      /answer: `toString` is a name that every object has/
    ],
    'members that differ in case alone': [
      { name: 'z', route: 'GET /z', answer: { a: object({ ab: int(), aB: list(int()) }) } },
      /answer.a: `aB` clashes with `ab`/
    ],
    'an answer that looks like a rejection': [
      { name: 'z', route: 'GET /z', answer: { rejection: text(9) } },
      /`rejection` is the word of rejections/
    ],
    'a list of fewer than its least': [
      { name: 'z', route: 'GET /z', answer: list({ a: list(int(), { min: 3, max: 2 }) }) },
      /answer\[\].a: a list is of 3 to 2/
    ],
    'a status of a failure': [
      { name: 'z', route: 'GET /z', answer: { a: int() }, status: 404 },
      /404 is no status of an answer/
    ]
  }
  for (const [what, [definition, mistake]] of Object.entries(CASES)) {
    it(`reports ${what}`, () => {
      const found = mistakes(careless({}), careless(definition))
      expect(found.join('\n')).to.match(mistake)
    })
  }

  it('reports one path with two names for its parameter, which no document could show', () => {
    const one = careless({ route: 'GET /reports/{id}', path: { id: int() } })
    const other = {
      name: 'b',
      route: 'PUT /reports/{name}',
      path: { name: text(9) },
      access: permission('things:manage')
    }
    expect(mistakes(one, careless(other))).to.deep.equal([
      'operation `b`: `/reports/{name}` is the path of `a` with other names of parameters.'
    ])
  })
})
