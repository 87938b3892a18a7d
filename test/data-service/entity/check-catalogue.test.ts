import { expect } from 'chai'
import { permissionsIn } from '../../../data-service/auth/tokens/claims.js'
import { roles } from '../../../examples/store/roles.js'
import { allOf, anyOf, everyone, ownRows, permission } from '../../../data-service/entity/access.js'
import { defineFieldType } from '../../../data-service/entity/fields/custom-type.js'
import { defineEntity } from '../../../data-service/entity/define-entity.js'
import type { Entity } from '../../../data-service/entity/entity.js'
import {
  binary,
  bits,
  column,
  decimal,
  defaultTo,
  example,
  filledByDatabase,
  guid,
  hidden,
  int,
  json,
  long,
  oneOf,
  onCreate,
  optional,
  readableBy,
  readOnly,
  requiredNullable,
  setOf,
  text,
  time,
  unique,
  writableBy,
  writeOnly
} from '../../../data-service/entity/fields/words.js'
import type { HookWords } from '../../../data-service/entity/hooks.js'
import { preset } from '../../../data-service/entity/preset.js'
import type { Field } from '../../../data-service/entity/fields/field.js'
import type { RowsWords } from '../../../data-service/entity/row-predicate.js'
import { CatalogueError, checkCatalogue } from '../../../data-service/entity/validation/validate.js'
import { StartError } from '../../../shared/start-error.js'
import { entities } from '../../../examples/store/entities/index.js'
import { outbox } from '../../../examples/store/outbox.js'
import { exampleEntities } from '../plan/example-entities.js'

function mistakes(...checked: Entity[]): readonly string[] {
  try {
    checkCatalogue(checked, { permissions: permissionsIn(roles), hasSecondStore: true })
    return []
  } catch (error) {
    if (error instanceof CatalogueError) return error.mistakes
    throw error
  }
}

const sound = defineEntity({
  name: 'things',
  description: 'Sound.',
  fields: { id: readOnly(int()), name: text(10), otherId: optional(int()), secret: hidden(text(10)), amount: long() },
  label: 'name',
  filterable: ['id', 'name'],
  sortable: ['id'],
  references: { other: { to: 'things', via: 'otherId' } },
  access: { read: everyone }
})

/** An entity file that got round its types, as a careless cast or plain JavaScript does. */
const careless = (definition: object): Entity =>
  defineEntity({
    name: 'others',
    description: '',
    fields: { id: int(), name: text(5), code: guid(), secret: hidden(text(5)) },
    label: 'name',
    filterable: [],
    sortable: [],
    access: { read: everyone },
    ...definition
  } as unknown as Parameters<typeof defineEntity>[0])

/** Rows of resources with writes of their own. */
const [written, hooked] = ['written', 'hooked'].map((name) =>
  careless({
    name,
    fields: { id: int(), name: text(5), otherId: optional(int()) },
    access: { read: everyone, write: permission('products:manage') },
    writes: ['delete'],
    ...(name === 'hooked' ? { hooks: () => [{ on: 'any', run: () => undefined }] } : {})
  })
) as [Entity, Entity]

/** Rows whose foreign keys are in no answer, or take a permission to read. */
const [sealed, posted, guarded] = [hidden(int()), writeOnly(int()), readableBy('products:manage', int())].map(
  (otherId, at) =>
    careless({ name: ['sealed', 'posted', 'guarded'][at], fields: { id: int(), name: text(5), otherId } })
) as [Entity, Entity, Entity]

/** Rows that refer to others and to things. */
const links = careless({
  name: 'links',
  fields: { id: int(), name: text(5), otherId: int(), thingId: int() },
  references: { other: { to: 'others', via: 'otherId' }, thing: { to: 'things', via: 'thingId' } }
})

describe('checkCatalogue', () => {
  it('passes every entity that is served, and sound ones', () => {
    const permissions = permissionsIn(roles)
    expect(() => checkCatalogue(entities, { permissions, hasSecondStore: true, outbox })).not.to.throw()
    expect(mistakes(...exampleEntities)).to.deep.equal([])
    expect(mistakes(sound)).to.deep.equal([])
  })

  it('The second argument of ownRows names the kind of owner, and nothing else.', () => {
    const careless = ownRows as (...given: readonly unknown[]) => unknown
    const others = ['patient', undefined, null, 7, ['patient'], { ownr: 'patient' }, { owner: undefined }]
    for (const given of [...others, { owner: 'patient', kind: 'x' }]) {
      expect(() => careless('patientId', given), JSON.stringify(given)).to.throw(
        StartError,
        "ownRows('patientId', …) takes the kind of owner as { owner: 'patient' }"
      )
    }
    expect(ownRows('patientId', { owner: 'patient' })).to.deep.equal({
      kind: 'ownRows',
      property: 'patientId',
      owner: 'patient'
    })
    expect(ownRows('patientId')).to.deep.equal({ kind: 'ownRows', property: 'patientId' })
  })

  it('reports rows without a key of which a reader may see nothing', () => {
    const unseen = defineEntity({
      name: 'unseen',
      description: '',
      key: 'none',
      fields: { secret: hidden(text(5)), guarded: readableBy('products:manage', int()) },
      filterable: [],
      sortable: [],
      access: { read: everyone }
    })
    expect(mistakes(unseen)).to.deep.equal([
      "unseen: `key: 'none'` needs a field that every reader sees: these rows have no id."
    ])
  })

  it('passes properties that are called as members of every object', () => {
    const fields = { id: int(), name: text(5), constructor: text(5), toString: int(), valueOf: int() }
    const names = ['constructor', 'toString', 'valueOf']
    const operators = { toString: ['equals'] }
    const found = careless({ fields, filterable: names, sortable: names, operators })
    expect(mistakes(found)).to.deep.equal([])
    expect(found.filterable.get('toString')).to.deep.equal(['equals'])
    expect(found.filterable.get('valueOf')).to.include('between')
  })

  it('finds what search cannot look into, or not for every reader', () => {
    expect(mistakes(careless({ searchable: ['secret', 'nmae', 'code'] }))).to.deep.equal([
      'others: searchable names the hidden `secret`.',
      'others: searchable names `nmae`, which is not a field. Did you mean "name"?',
      'others: searchable names `code`, which is guid and no string.'
    ])
    const careful = { fullText: ['name', 'code'] }
    expect(mistakes(careless({ searchable: careful }))).to.deep.equal([
      'others: searchable names `code`, which is guid and no string.'
    ])
    expect(mistakes(careless({ searchable: { fullText: [] } }))).to.deep.equal([
      'others: fullText(…) names no property.'
    ])
    expect(mistakes(careless({ searchable: ['name', 'name'] }))).to.deep.equal([
      'others: searchable names a property twice.'
    ])
    const note = readableBy('products:manage', optional(text(5)))
    const fields = { id: int(), name: text(5), note }
    expect(mistakes(careless({ fields, searchable: ['name', 'note'] }))).to.deep.equal([])
    const closed = 'others: searchable needs a property that every reader of the rows may see.'
    expect(mistakes(careless({ fields, searchable: ['note'] }))).to.deep.equal([closed])
    // A joined property takes the permission of its source.
    const noted = careless({ name: 'noted', fields })
    const joining = (property: string, field: Field, searchable: readonly string[]): readonly string[] =>
      mistakes(
        noted,
        careless({
          fields: { id: int(), name: text(5), notedId: int() },
          references: { noted: { to: 'noted', via: 'notedId' } },
          joined: { theirs: { through: 'noted', property, field } },
          searchable
        })
      )
    expect(joining('note', optional(text(5)), ['theirs'])).to.deep.equal([closed])
    expect(joining('note', optional(text(5)), ['theirs', 'name'])).to.deep.equal([])
    expect(joining('name', text(5), ['theirs'])).to.deep.equal([])
  })

  it('passes columns by permission that tell of nothing', () => {
    const cost = readableBy('products:manage', int())
    const fields = { id: readOnly(int()), name: text(5), cost, note: readableBy('coupons:manage', optional(text(5))) }
    const base = {
      name: 'priced',
      description: 'Sound.',
      fields,
      label: 'name',
      filterable: ['cost'],
      sortable: []
    } as const
    const access = { read: everyone, write: permission('products:manage') }
    const children = { parts: { table: 'priced_parts', foreignKey: 'pricedId', fields: { id: int(), cost } } }
    const creates = { children: { parts: { min: 0 } } }
    const costs = { description: '', item: 'cost', sort: ['cost'], access: permission('products:manage') } as const
    const priced = defineEntity({ ...base, access, children, creates, writes: ['create'], customReads: { costs } })
    expect(mistakes(priced)).to.deep.equal([])
  })

  it('reports the mistakes of all entities at once, with suggestions', () => {
    const found = mistakes(
      careless({ name: 'Bad Name', filterable: ['nmae', 'secret'], label: 'cod' }),
      careless({ table: 'x', references: { thing: { to: 'thingz', via: 'code' } }, sortable: ['naem'] }),
      sound
    )
    expect(found).to.include.members([
      'Bad Name: the name must be kebab-case such as `stock-items`.',
      'Bad Name: filterable names `nmae`, which is not a field. Did you mean "name"?',
      'Bad Name: filterable names the hidden `secret`.',
      'Bad Name: `label`: `cod` is not a field. Did you mean "code"?',
      'others: reference `thing` leads to `thingz`, no resource. Did you mean "things"?',
      'others: sortable names `naem`, which is not a field. Did you mean "name"?'
    ])
  })

  const params = (more: object, name = 'x') => ({
    customReads: () => ({ [name]: { description: '', item: 'name', ...more } })
  })
  const even = defineFieldType({
    name: 'even',
    base: int(),
    parse: (value) => (value % 2 === 0 ? value : undefined),
    expected: 'even',
    examples: [2, 3]
  })

  const cases: Record<string, [definition: object, mistake: RegExp]> = {
    'a parameter that is not camelCase': [
      params({ params: { a_b: int() } }),
      /custom read `x`: `a_b` must be camelCase/
    ],
    'parameters that differ in case alone': [params({ params: { ab: int(), aB: int() } }), /`aB` clashes with `ab`/],
    'a parameter called as a member of every object': [
      params({ params: { constructor: int() } }),
      /`constructor` is a name that every object has/
    ],
    'a parameter that nobody could send': [
      params({ params: { a: readOnly(int()) } }),
      /`a` is a value that no request/
    ],
    'a parameter that is unique': [params({ params: { a: unique(int()) } }), /`a` is no column, which alone/],
    'a parameter by permission': [
      params({ params: { a: readableBy('products:manage', int()) } }),
      /`a` is no column: it takes no permission/
    ],
    'a parameter that is null': [params({ params: { a: requiredNullable(int()) } }), /`a` is a text in a query/],
    'a parameter of the owner filter': [
      { ...params({ params: { ID: int() } }), access: { read: everyone, ownerFilter: { property: 'id' } } },
      /`id` is the parameter of the owner filter/
    ],
    'a parameter that is JSON': [
      params({ params: { a: json() } }),
      /custom read `x`: `a` is json, which no parameter of a path or a query can be/
    ],
    'a limit that is no parameter': [
      params({ params: { a: int() }, limit: 'b' }),
      /limit `b` must be a parameter of int/
    ],
    'a limit without bounds': [params({ params: { a: int({ min: 1 }) }, limit: 'a' }), /limit `a` must be/],
    'a limit of nothing': [params({ params: { a: int({ max: 9 }) }, limit: 'a' }), /limit `a` must be/],
    'an example that is none of its type': [
      { fields: { id: int(), name: text(1), e: even() } },
      /`e`: 3 is no stored value of the type `even`/
    ],
    'an example that no request could send': [
      { fields: { id: int(), name: text(1), e: example(int({ max: 9 }), 10) } },
      /others: the example of `e`, 10, must be at most 9\./
    ],
    'an example in another form than that of rows': [
      { fields: { id: int(), name: text(1), e: example(decimal(10, 2), '19.9') } },
      /others: the example of `e`, "19\.9", must be written as rows have it: "19\.90"\./
    ],
    'an example of another type': [
      { fields: { id: int(), name: text(1), e: { ...long(), example: 1 } } },
      /others: the example of `e` must be a text of digits\./
    ],
    'an example of JSON that its schema does not take': [
      { fields: { id: int(), name: text(1), e: example(json({ type: 'array' }), '{}') } },
      /others: the example of `e`, "\{\}", must be array\./
    ],
    'an example of a parameter that it does not take': [
      params({ params: { a: example(text(3), 'long') } }),
      /custom read `x`: the example of `a`, "long", must have 1 to 3 characters\./
    ],
    'a default that is none of its type': [
      { fields: { id: int(), name: text(1), e: defaultTo(even(), 5) } },
      /`e`: the default 5 is no stored value of `even`/
    ],
    'a type that is not camelCase': [
      { fields: { id: int(), name: text(1), e: { ...int(), custom: { ...even().custom, name: 'E-e' } } } },
      /`e`: the type `E-e` must be camelCase/
    ],
    'two resources of a name': [{ name: 'things', table: 'x' }, /two resources of this name/],
    'a path of the gateway': [{ name: 'auth' }, /gateway keeps/],
    'the path of metrics': [{ name: 'metrics' }, /gateway keeps/],
    'the path of the administration': [{ name: 'admin' }, /gateway keeps/],
    'a reference by a column that is in no answer': [
      { fields: { id: int(), secretId: hidden(int()) }, references: { thing: { to: 'things', via: 'secretId' } } },
      /reference `thing`: `secretId` is in no answer/
    ],
    'a required state that is in no answer': [
      {
        fields: { id: int(), secret: hidden(text(5)) },
        actions: () => ({ close: { description: '', when: { secret: ['open'] }, change: () => ({}) } })
      },
      /action `close`: `secret` is in no answer/
    ],
    'a table used twice': [{ table: 'things' }, /table `things` is that of others/],
    'key types that differ': [
      { references: { thing: { to: 'things', via: 'code' } } },
      /`code` is guid, but the id of `things` is int/
    ],
    'names that differ in case alone': [
      { fields: { id: int(), name: text(1), Name: text(1) } },
      /`Name` clashes with `name`/
    ],
    'a clash with the row version': [
      { fields: { id: int(), name: text(1), rowversion: text(1) } },
      /clashes with `rowVersion`/
    ],
    'a name that is not camelCase': [{ fields: { id: int(), name: text(1), a_b: text(1) } }, /`a_b` must be camelCase/],
    'two names for one column': [
      { fields: { id: int(), name: text(1), aB: int(), a_b: int() } },
      /share the column `a_b`/
    ],
    'an id that may be null': [{ fields: { id: optional(int()), name: text(1) } }, /`id` must be a visible/],
    'a text of no length': [{ fields: { id: int(), name: text(0) } }, /needs a maximum length/],
    'an enum without words': [{ fields: { id: int(), name: text(1), e: oneOf([]) } }, /`e` has no words/],
    'words that differ in letter case alone': [
      { fields: { id: int(), name: text(1), e: oneOf(['a', 'A']) } },
      /`e` has two words that differ in letter case/
    ],
    'a word with a blank at its end': [
      { fields: { id: int(), name: text(1), e: oneOf(['a ']) } },
      /`e` has the word "a "/
    ],
    'a word of a set with a comma': [
      { fields: { id: int(), name: text(1), e: setOf(['a,b']) } },
      /`e` has the word "a,b".*no comma/
    ],
    'a set of 65 words': [
      { fields: { id: int(), name: text(1), e: setOf(Array.from({ length: 65 }, (_, n) => `w${n}`)) } },
      /`e` has 65 words/
    ],
    'a default that is none of the words': [
      { fields: { id: int(), name: text(1), e: { ...oneOf(['a']), defaultTo: 'b' } } },
      /`e` has the default "b"/
    ],
    'a fraction of seven digits': [
      { fields: { id: int(), name: text(1), e: { ...time(), precision: 7 } } },
      /`e` has a precision of 7 digits/
    ],
    'more bits than 64': [{ fields: { id: int(), name: text(1), e: bits(65) } }, /`e` has 65 bits/],
    'bytes without a size': [{ fields: { id: int(), name: text(1), e: binary(0) } }, /`e` takes 0 to 0 bytes/],
    'a JSON schema that is none': [
      { fields: { id: int(), name: text(1), e: json({ type: 'objekt' }) } },
      /`e` has a JSON schema that is none/
    ],
    'JSON that is unique': [
      { fields: { id: int(), name: text(1), e: { ...json(), unique: true } } },
      /`e` is json, which/
    ],
    'an order of sets': [
      { fields: { id: int(), name: text(1), e: setOf(['a']) }, sortable: ['e'] },
      /sortable names `e`, which is set and has no order/
    ],
    'too many digits': [{ fields: { id: int(), name: text(1), p: decimal(65, 2) } }, /precision 65/],
    'more scale than digits': [{ fields: { id: int(), name: text(1), p: decimal(2, 3) } }, /scale 3/],
    'a joined property without a field': [
      { joined: { x: { through: 'thing', column: 'name' } } },
      /joined `x` takes `through`, a `property` of that resource, and its `field`/
    ],
    'a reference without a target for its joined property': [
      {
        joined: { x: { through: 'thingg', property: 'name', field: text(10) } },
        references: { thing: { to: 'things', via: 'id' } }
      },
      /goes through `thingg`, no reference. Did you mean "thing"/
    ],
    'a joined property the target has not': [
      {
        joined: { x: { through: 'thing', property: 'secret', field: text(10) } },
        references: { thing: { to: 'things', via: 'id' } }
      },
      /`secret` is not a field of `things`/
    ],
    ...lostWordsOfJoined(),
    'a read in access that there is not': [
      { access: { read: everyone, reads: { lookUp: permission('products:manage') } } },
      /others: access.reads: there is no `lookUp`. Did you mean "lookup"/
    ],
    'a custom read in access.reads': [
      {
        access: { read: everyone, reads: { names: permission('products:manage') } },
        customReads: { names: { description: '', item: 'name' } }
      },
      /access.reads names the custom read `names`, which says `access` itself/
    ],
    'a read in access that says nothing': [
      { access: { read: everyone, reads: { get: null } } },
      /access.reads: `get` says nothing: everyone, permission/
    ],
    'a word of access that there is not': [
      { access: { read: everyone, ownerFilters: { property: 'id' } } },
      /access: there is no `ownerFilters`. Did you mean "ownerFilter"/
    ],
    'a word of an owner filter that there is not': [
      { access: { read: everyone, ownerFilter: { property: 'id', allowMissing: 'rowScope' } } },
      /ownerFilter: there is no `allowMissing`/
    ],
    'a word of an action that there is not': [
      {
        access: { read: everyone, write: permission('products:manage') },
        actions: () => ({ close: { description: '', permision: 'products:manage', change: () => ({}) } })
      },
      /action `close`: there is no `permision`. Did you mean "permission"/
    ],
    'an action whose permission is no text': [
      {
        access: { read: everyone, write: permission('products:manage') },
        actions: () => ({ close: { description: '', permission: undefined, change: () => ({}) } })
      },
      /action `close`: `permission` is undefined; it has to be a text/
    ],
    'a word of a custom read that there is not': [
      { customReads: { names: { description: '', item: 'name', acces: permission('products:manage') } } },
      /custom read `names`: there is no `acces`. Did you mean "access"/
    ],
    'a word of a custom read with parameters that there is not': [
      params({ params: { a: int() }, were: () => 'none' }),
      /custom read `x`: there is no `were`. Did you mean "where"/
    ],
    ...lostWords(),
    'an override of what there is not': [
      { overrides: { page: () => undefined } },
      /overrides: there is no `page`. Did you mean "paged"/
    ],
    'an owner that is in no answer': [
      { fields: { id: int(), name: text(5), o: hidden(int()) }, access: { read: { kind: 'ownRows', property: 'o' } } },
      /owner `o` is in no answer, and filters by the owner would tell it/
    ],
    'an owner of writes that requests alone have': [
      {
        fields: { id: int(), name: text(5), o: onCreate(writeOnly(int())) },
        access: { read: everyone, write: { kind: 'ownRows', property: 'o' } },
        writes: ['create']
      },
      /owner `o` is in no answer/
    ],
    'an owner filter over a column that is in no answer': [
      {
        fields: { id: int(), name: text(5), o: hidden(int()) },
        access: { read: everyone, ownerFilter: { property: 'o', parameter: 'owner' } }
      },
      /ownerFilter: owner `o` is in no answer/
    ],
    'a path with an unknown step': [
      {
        joined: { x: { through: ['thing', 'othr'], property: 'name', field: optional(text(10)) } },
        references: { thing: { to: 'things', via: 'id' } }
      },
      /joined `x`: `othr` is not a reference of `things`. Did you mean "other"/
    ],
    'a path with a step that may be null': [
      {
        joined: { x: { through: ['thing', 'other'], property: 'name', field: text(10) } },
        references: { thing: { to: 'things', via: 'id' } }
      },
      /joined `x` must be optional/
    ],
    'two names for one column that a word names': [
      { fields: { id: int(), name: text(1), other: column('name', text(1)) } },
      /share the column `name`/
    ],
    'a column whose name no statement can quote': [
      { fields: { id: int(), name: column('the `name', text(1)) } },
      /`name` is in the column `the `name`: a name in the database has 1 to 64 characters, no backtick/
    ],
    'a table whose name no server takes': [{ table: 'x'.repeat(65) }, /table `x+`: a name in the database has 1 to 64/],
    'a foreign key without a name': [
      { children: { c: { table: 'c', foreignKey: 'otherId', foreignKeyColumn: ' ', fields: { id: int() } } } },
      /children `c`: foreign key ` `: a name in the database/
    ],
    'columns that differ in case alone': [
      { fields: { id: int(), name: text(1), other: column('NAME', text(1)) } },
      /`other` and `name` share the column `NAME`/
    ],
    'a property in the column of the row version': [
      { rowVersionColumn: 'stamp', fields: { id: int(), name: text(1), other: column('stamp', text(1)) } },
      /`other` and `rowVersion` share the column `stamp`/
    ],
    'a joined property of another type': [
      {
        joined: { x: { through: 'thing', property: 'name', field: text(11) } },
        references: { thing: { to: 'things', via: 'id' } }
      },
      /is string\(11\), but `things.name` is string\(10\)/
    ],
    'a joined property that may be null': [
      {
        joined: { x: { through: 'thing', property: 'name', field: text(10) } },
        fields: { id: int(), name: text(1), t: optional(int()) },
        references: { thing: { to: 'things', via: 't' } }
      },
      /must be optional/
    ],
    'an operator of another type': [
      { filterable: ['name'], operators: { name: ['between'] } },
      /`between` is no operator of string/
    ],
    'a filter without operators': [{ filterable: ['name'], operators: { name: [] } }, /left without an operator/],
    'a hidden label': [{ label: 'secret' }, /label `secret` must be a visible string/],
    'a label that may be null': [
      { fields: { id: int(), name: optional(text(1)) } },
      /label `name` must be .* never null/
    ],
    'a label that is an amount': [{ fields: { id: int(), name: decimal(4, 2) } }, /label `name` must be a visible/],
    'a computed property of hidden ones': [
      { computed: { c: { type: 'string', from: ['secret'], value: () => '' } } },
      /show the hidden `secret`/
    ],
    'an unknown permission': [
      { access: { read: { kind: 'permission', permission: 'product:manage' } } },
      /Did you mean "products:manage"/
    ],
    'an owner that is no number': [
      { access: { read: { kind: 'ownRows', property: 'code' } } },
      /`code` must be int or long, not guid/
    ],
    'an owner that is no field': [
      { access: { read: { kind: 'ownRows', property: 'nam' } } },
      /owner `nam` is not a field. Did you mean "name"/
    ],
    'access of nothing': [{ access: { read: { kind: 'anyOf', parts: [] } } }, /anyOf\(\) of nothing/],
    'a mistake inside of combined access': [
      { access: { read: allOf(permission('products:manage'), anyOf(permission('product:manage'))) } },
      /Did you mean "products:manage"/
    ],
    'a list and an export of different predicates': [
      {
        access: ({ rows }: RowsWords<object>) => ({
          reads: { export: rows(() => 'all'), list: rows(() => 'none') }
        })
      },
      /`export` is for callers with a token by predicate 1, but `list` for callers with a token by predicate 2/
    ],
    'no word about access': [{ access: {} }, /access says nothing/],
    ...columnPermissionMistakes(),
    'a PUT of rows without a version': [
      { rowVersion: 'none', access: { read: everyone, write: permission('products:manage') }, writes: ['update'] },
      /`update` is a guarded write, which needs rows with a row version/
    ],
    'an action on rows without a version': [
      {
        rowVersion: 'none',
        access: { read: everyone, write: permission('products:manage') },
        actions: () => ({ close: { description: '', change: () => ({}) } })
      },
      /`close` is a guarded write/
    ],
    'a name that no trail can hold': [{ name: 'o'.repeat(65) }, /^o{65}: the name has more than 64 characters/],
    'a key of words that are too long for an id': [
      {
        key: [...'abcd'],
        fields: {
          ...Object.fromEntries([...'abcd'].map((one) => [one, onCreate(oneOf([',%'.repeat(125)]))])),
          name: text(5)
        }
      },
      /the words of its key would take more than 2500 characters of an id/
    ],
    'rows by a link entity that is none': [
      { manyToMany: { others: { through: 'thing', from: 'other', to: 'other' } } },
      /manyToMany `others`: leads through `thing`, no resource. Did you mean "things"/
    ],
    'rows by references that a link entity does not have': [
      { manyToMany: { others: { through: 'links', from: 'othr', to: 'thing' } } },
      /manyToMany `others`: `links` has no reference `othr`. Did you mean "other"/
    ],
    'rows by a link entity that leads elsewhere': [
      { manyToMany: { others: { through: 'links', from: 'thing', to: 'other' } } },
      /manyToMany `others`: `links.thing` leads to `things` and not to `others`/
    ],
    'rows by one reference of a link entity': [
      { manyToMany: { others: { through: 'links', from: 'other', to: 'other' } } },
      /`from` and `to` are two references of the link entity/
    ],
    'rows by links in an order that they do not have': [
      { manyToMany: { things: { through: 'links', from: 'other', to: 'thing', sort: ['nmae', 'secret'] } } },
      /sort names `nmae`, which is no field of `things`. Did you mean "name"[^]*sort names `secret`, which not every reader sees/
    ],
    'rows by links that are called like a field': [
      { manyToMany: { name: { through: 'links', from: 'other', to: 'thing' } } },
      /`name` clashes with `name`/
    ],
    'children of children with mistakes of their own': [
      {
        children: {
          c: {
            table: 'c',
            foreignKey: 'otherId',
            fields: { id: int() },
            children: { d: { table: 'things', foreignKey: ['cId', 'x'], store: 'second', fields: { name: text(1) } } }
          }
        }
      },
      /children `d`: the key is a field `id`[^]*`d`: its foreign key has 2 columns[^]*`d` are in the other store/
    ],
    'children of children in a table of somebody else': [
      {
        children: {
          c: {
            table: 'c',
            foreignKey: 'otherId',
            fields: { id: int() },
            children: { d: { table: 'things', foreignKey: 'cId', fields: { id: int() } } }
          }
        }
      },
      /table `things` is that of others\.c\.d already/
    ],
    'a permission of children of children that no role has': [
      {
        children: {
          c: {
            table: 'c',
            foreignKey: 'otherId',
            fields: { id: int() },
            children: { d: { table: 'd', foreignKey: 'cId', fields: { id: int(), x: readableBy('x:y', int()) } } }
          }
        }
      },
      /permission `x:y` is given to no role/
    ],
    'children of an entity that the application does not have': [
      { children: { c: { entity: careless({ name: 'strangers', table: 'x' }), foreignKey: 'id' } } },
      /others\.c: `strangers` is not among the entities/
    ],
    'a foreign key that the resource of the children does not have': [
      { children: { c: { entity: sound, foreignKey: 'otherIds' } } },
      /foreignKey names `otherIds`, which is no field of `things`. Did you mean "otherId"/
    ],
    'a foreign key of another type': [
      { children: { c: { entity: sound, foreignKey: 'name' } } },
      /children `c`: `name` is string, but the key that it refers to is int/
    ],
    'children by a foreign key that is in no answer': [
      { children: { c: { entity: sealed, foreignKey: 'otherId' } } },
      /children `c`: `otherId` of `sealed` is in no answer, and the children would tell it/
    ],
    'children by a foreign key that requests alone have': [
      { children: { c: { entity: posted, foreignKey: 'otherId' } } },
      /children `c`: `otherId` of `posted` is in no answer, and the children would tell it/
    ],
    'children of children by a foreign key that is in no answer': [
      {
        children: {
          c: {
            table: 'c',
            foreignKey: 'otherId',
            fields: { id: int() },
            children: { d: { entity: sealed, foreignKey: 'otherId' } }
          }
        }
      },
      /children `c`: children `d`: `otherId` of `sealed` is in no answer, and the children would tell it/
    ],
    'children that each create brings along and that some who create do not see': [
      {
        children: { c: { entity: guarded, foreignKey: 'otherId' } },
        access: { read: everyone, write: permission('coupons:manage') },
        writes: ['create'],
        creates: { children: { c: { min: 1 } } }
      },
      /others: `c` needs min 0: callers without the permission of its foreign key create rows too/
    ],
    'a child precondition of children whose foreign key takes a permission': [
      {
        children: { c: { entity: guarded, foreignKey: 'otherId', writtenBy: 'root' } },
        access: { read: everyone, write: permission('coupons:manage') },
        actions: () => ({
          close: {
            description: '',
            input: { cId: int() },
            child: { children: 'c', id: 'cId', version: 'cRowVersion' },
            change: () => ({})
          }
        })
      },
      /action `close`: child: `otherId` of `c` takes a permission to read, and an answer would tell of it/
    ],
    'children that two roots write': [
      {
        children: { c: { entity: written, foreignKey: 'otherId', writtenBy: 'root' } }
      },
      /others\.c: says writtenBy: 'root', and written has writes of these rows too/
    ],
    'children under lock that are written as a resource': [
      {
        children: { c: { entity: sound, foreignKey: 'otherId' } },
        access: { read: everyone, write: permission('products:manage') },
        actions: () => ({ close: { description: '', loads: ['c'], change: () => ({}) } })
      },
      /`c` are written as `things` and are not under the lock of their root/
    ],
    'children created past the hooks of their resource': [
      {
        children: { c: { entity: hooked, foreignKey: 'otherId' } },
        access: { read: everyone, write: permission('products:manage') },
        writes: ['create'],
        creates: { children: { c: { min: 0 } } }
      },
      /`c` would be created without the hooks or the own `create` of `hooked`/
    ],
    'a child without an id': [
      { children: { c: { table: 'c', foreignKey: 'otherId', fields: { name: text(1) } } } },
      /children `c`: the key is a field `id`/
    ]
  }
  for (const [what, [definition, mistake]] of Object.entries(cases)) {
    it(`reports ${what}`, () => {
      expect(
        mistakes(careless(definition), sound, written, hooked, sealed, posted, guarded, links).join('\n')
      ).to.match(mistake)
    })
  }
})

/** Words of the field of a joined property that would be lost: its value is shown, and written in its own resource. */
function lostWordsOfJoined(): Record<string, [definition: object, mistake: RegExp]> {
  const named = text(10)
  const fields: Record<string, Field> = {
    hidden: hidden(named),
    writeOnly: writeOnly(named),
    onCreate: onCreate(named),
    preset: preset(named, () => 'x'),
    unique: unique(named),
    defaultTo: defaultTo(named, 'x'),
    filledByDatabase: filledByDatabase(named),
    writableBy: writableBy('products:manage', named)
  }
  return Object.fromEntries(
    Object.entries(fields).map(([word, field]): [string, [object, RegExp]] => [
      `a joined property whose field says ${word}`,
      [
        {
          joined: { x: { through: 'thing', property: 'name', field } },
          references: { thing: { to: 'things', via: 'id' } }
        },
        new RegExp(`others: joined \`x\` is only shown: its field cannot say ${word}\\(…\\)\\.`)
      ]
    ])
  )
}

/** Words that would be lost, and with them what they protect. */
function lostWords(): Record<string, [definition: object, mistake: RegExp]> {
  const write = { kind: 'permission', permission: 'products:manage' }
  const creates = (words: object): object => ({ access: { read: everyone, write }, writes: ['create'], creates: words })
  const parts = { table: 'x', foreignKey: 'otherId', fields: { id: int(), code: text(5) } }
  const thing = { to: 'things', via: 'id' }
  const manyToMany = { through: 'links', from: 'other', to: 'thing' }
  return {
    'a word of an entity that there is not': [{ searchables: ['name'] }, /others: there is no `searchables`. Did you/],
    'a word of access beside it': [
      { writesUnseen: true },
      /others: there is no `writesUnseen`. It is a word of `access`\./
    ],
    'an owner filter beside access': [
      { ownerFilter: { property: 'id' } },
      /others: there is no `ownerFilter`. It is a word of `access`\./
    ],
    'a permission of an entity': [{ permission: 'products:manage' }, /others: there is no `permission`\.$/],
    'a word of creates that there is not': [
      creates({ prepar: () => ({ values: {} }) }),
      /others: creates: there is no `prepar`. Did you mean "prepare"/
    ],
    'a word of guesses that there is not': [
      creates({ prepare: () => ({ values: {} }), guesses: { of: 'name', most: 3, minutes: 1, minute: 2 } }),
      /others: creates: guesses: there is no `minute`. Did you mean "minutes"/
    ],
    'a word of children in creates that there is not': [
      { ...creates({ children: { parts: { min: 0, mn: 1 } } }), children: { parts } },
      /others: creates: children `parts`: there is no `mn`. Did you mean "min"/
    ],
    'a word of deletes that there is not': [
      { access: { read: everyone, write }, writes: ['delete'], deletes: { wen: { name: ['x'] } } },
      /others: deletes: there is no `wen`. Did you mean "when"/
    ],
    'a state of an action that is undefined': [
      {
        access: { read: everyone, write },
        actions: () => ({ close: { description: '', when: undefined, change: () => ({}) } })
      },
      /others: action `close`: `when` is undefined; it has to be an object/
    ],
    'a state whose word is undefined': [
      {
        access: { read: everyone, write },
        actions: () => ({ close: { description: '', when: { name: [undefined] }, change: () => ({}) } })
      },
      /others: action `close`: when: the value of `name` is undefined/
    ],
    'a state of deletes that is undefined': [
      { access: { read: everyone, write }, writes: ['delete'], deletes: { when: undefined } },
      /others: deletes: `when` is undefined; it has to be an object/
    ],
    'a rule of deletes that is no function': [
      { access: { read: everyone, write }, writes: ['delete'], deletes: { rule: {} } },
      /others: deletes: `rule` is an object; it has to be a function/
    ],
    'a condition of a custom read that is undefined': [
      { customReads: { names: { description: '', item: 'name', where: undefined } } },
      /others: custom read `names`: `where` is undefined; it has to be an object or a function/
    ],
    'a condition of a custom read whose value is undefined': [
      { customReads: { names: { description: '', item: 'name', where: { name: undefined } } } },
      /others: custom read `names`: where: the value of `name` is undefined/
    ],
    'an owner filter that is undefined': [
      { access: { read: everyone, ownerFilter: undefined } },
      /others: access: `ownerFilter` is undefined/
    ],
    'odd values of words that say yes': [
      { access: { read: everyone, write, writesUnseen: 'no' }, writes: ['create'] },
      /others: access: `writesUnseen` is a text; it has to be true or false/
    ],
    'an effect with a word that there is not': [
      {
        access: { read: everyone, write },
        actions: () => ({ close: { description: '', effect: { sett: { name: 'x' } } } })
      },
      /others: action `close`: effect: there is no `sett`. Did you mean "set"/
    ],
    'operators of a property that there is not': [
      { operators: { nam: ['equals'] } },
      /others: operators: there is no `nam`\./
    ],
    'operators that are undefined': [
      { operators: { name: undefined } },
      /others: operators: `name` is undefined; it has to be a list/
    ],
    'hooks in braces without return': [{ hooks: () => undefined }, /others: `hooks` answers no list: .* `return`/],
    'actions in braces without return': [
      { access: { read: everyone, write }, actions: () => undefined },
      /others: `actions` answers no actions: .* `return`/
    ],
    'a text without a whole number of characters': [
      { fields: { id: readOnly(int()), name: text(Number('x')) } },
      /others: `name` needs a maximum length/
    ],
    'an effect beside a change': [
      {
        access: { read: everyone, write },
        actions: () => ({ close: { description: '', effect: {}, change: () => ({}) } })
      },
      /others: action `close` says both `change` and `effect`/
    ],
    'a word of a hook that there is not': [
      {
        hooks: ({ beforeCommit }: HookWords<object>) => [
          beforeCommit({ on: ['delete'], readbefore: true, run: () => undefined } as Parameters<typeof beforeCommit>[0])
        ]
      },
      /others: hook 1: there is no `readbefore`. Did you mean "readBefore"/
    ],
    'a store of children that there is not': [
      { children: { parts: { ...parts, store: 'Second' } } },
      /others: children `parts`: there is no store `Second`/
    ],
    'a word of children that there is not': [
      { children: { parts: { ...parts, readableBy: 'products:manage' } } },
      /others: children `parts`: there is no `readableBy`/
    ],
    'a word of children of a table that only rows of a resource have': [
      { children: { parts: { ...parts, writtenBy: 'root' } } },
      /others: children `parts`: there is no `writtenBy`/
    ],
    'a word of children that are rows of a resource': [
      { children: { parts: { entity: links, foreignKey: 'otherId', writenBy: 'root' } } },
      /others: children `parts`: there is no `writenBy`. Did you mean "writtenBy"/
    ],
    'a word of children of children': [
      {
        children: {
          parts: {
            ...parts,
            children: { bits: { table: 'y', foreignKey: 'partId', fields: { id: int() }, readableBy: 'x:y' } }
          }
        }
      },
      /others: children `parts`: children `bits`: there is no `readableBy`/
    ],
    'a word of a reference that there is not': [
      { references: { thing: { ...thing, readableBy: 'products:manage' } } },
      /others: reference `thing`: there is no `readableBy`/
    ],
    'a word of a joined property that there is not': [
      {
        references: { thing },
        joined: { x: { through: 'thing', property: 'name', field: text(10), showUnseen: true } }
      },
      /others: joined `x`: there is no `showUnseen`. Did you mean "showsUnseen"/
    ],
    'a word of a computed property that there is not': [
      { computed: { x: { type: 'string', from: ['name'], value: (name: unknown) => name, nulable: true } } },
      /others: computed `x`: there is no `nulable`. Did you mean "nullable"/
    ],
    'a word of a many-to-many navigation that there is not': [
      { manyToMany: { things: { ...manyToMany, sorts: ['name'] } } },
      /others: manyToMany `things`: there is no `sorts`. Did you mean "sort"/
    ],
    'a word of a guarded child that there is not': [
      {
        access: { read: everyone, write },
        children: { parts },
        actions: () => ({
          close: {
            description: '',
            input: { partId: int() },
            child: { children: 'parts', id: 'partId', version: 'partRowVersion', verson: 'x' },
            change: () => ({})
          }
        })
      },
      /others: action `close`: child: there is no `verson`. Did you mean "version"/
    ],
    'a word of guesses of an action that there is not': [
      {
        access: { read: everyone, write },
        actions: () => ({
          close: {
            description: '',
            input: { code: text(5) },
            guesses: { of: 'code', most: 3, minutes: 1, mst: 2 },
            change: () => ({})
          }
        })
      },
      /others: action `close`: guesses: there is no `mst`. Did you mean "most"/
    ],
    ...Object.fromEntries(
      [undefined, null].map((nothing): [string, [object, RegExp]] => [
        `a write in access that says ${String(nothing)}`,
        [
          { access: { read: everyone, write, writes: { delete: nothing } }, writes: ['delete'] },
          /others: access.writes: `delete` says nothing: permission\(…\), ownRows\(…\) or rows\(…\)/
        ]
      ])
    ),
    'a custom read whose access says nothing': [
      { customReads: { names: { description: '', item: 'name', access: undefined } } },
      /others: custom read `names`: `access` is undefined; it has to be an object/
    ]
  }
}

/** Columns by permission that would tell of themselves, and permissions that no role has. */
function columnPermissionMistakes(): Record<string, [definition: object, mistake: RegExp]> {
  const readable = (field: Field): Field => ({ ...field, readableBy: 'products:manage' })
  const fields = { id: int(), name: text(5), ownerId: readable(int()), state: readable(text(5)), cost: readable(int()) }
  const write = { kind: 'permission', permission: 'coupons:manage' }
  const read = (more: object): object => ({ fields, customReads: { all: { description: '', item: 'name', ...more } } })
  const parts = { table: 'x', foreignKey: 'otherId', fields: { id: int(), price: readable(int()) } }
  return {
    'a column by an unknown permission': [
      { fields: { id: int(), name: text(5), cost: { ...int(), readableBy: 'product:manage' } } },
      /permission `product:manage` is given to no role. Did you mean "products:manage"/
    ],
    'an unknown permission of a child': [
      { children: { c: { ...parts, fields: { id: int(), price: { ...int(), readableBy: 'x:y' } } } } },
      /permission `x:y` is given to no role/
    ],
    'an id by permission': [{ fields: { id: readable(int()), name: text(5) } }, /`id` cannot take a permission/],
    'a label by permission': [{ fields: { id: int(), name: readable(text(5)) } }, /`name` is the label/],
    'a unique column by permission': [
      { fields: { id: int(), name: text(5), sku: readable(unique(text(5))) } },
      /`sku` is unique: its conflicts/
    ],
    'an owner by permission': [
      { fields, access: { read: { kind: 'ownRows', property: 'ownerId' } } },
      /`ownerId` is the owner/
    ],
    'an owner of writes by permission': [
      { fields, access: { read: everyone, write: { kind: 'ownRows', property: 'ownerId' } }, writes: ['delete'] },
      /`ownerId` is the owner/
    ],
    'an owner filter by permission': [
      { fields, access: { read: everyone, ownerFilter: { property: 'ownerId', parameter: 'owner' } } },
      /`ownerId` is the owner/
    ],
    'a required state by permission': [
      {
        fields,
        access: { read: everyone, write },
        actions: () => ({ close: { description: '', when: { state: ['open'] }, change: () => ({}) } })
      },
      /action `close`: `state` takes a permission to read/
    ],
    'an input by permission': [
      {
        access: { read: everyone, write },
        actions: () => ({ close: { description: '', input: { x: readable(int()) }, change: () => ({}) } })
      },
      /`x` is an input, which takes no permission/
    ],
    'a custom read that shows it': [read({ item: 'state' }), /custom read `all` names `state`/],
    'a custom read in its order': [read({ sort: ['state'] }), /custom read `all` names `state`/],
    'a custom read that compares it': [read({ where: { state: 'x' } }), /custom read `all` names `state`/],
    'a custom read for another permission': [
      read({ item: 'state', access: { kind: 'permission', permission: 'coupons:manage' } }),
      /custom read `all` names `state`/
    ],
    'a column that some who create cannot set': [
      { fields, access: { read: everyone, write }, writes: ['create'] },
      /`cost` needs a default or optional/
    ],
    'a column of a child that some who create cannot set': [
      {
        access: { read: everyone, write },
        writes: ['create'],
        children: { parts },
        creates: { children: { parts: { min: 0 } } }
      },
      /`parts.price` needs a default or optional/
    ]
  }
}
