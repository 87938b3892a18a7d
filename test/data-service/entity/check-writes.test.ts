import { expect } from 'chai'
import { permissionsIn } from '../../../data-service/auth/tokens/claims.js'
import { roles } from '../../../examples/store/roles.js'
import { allOf, anyOf, everyone, ownRows, permission } from '../../../data-service/entity/access.js'
import { defineEntity } from '../../../data-service/entity/define-entity.js'
import type { Entity } from '../../../data-service/entity/entity.js'
import {
  filledByDatabase,
  guid,
  hidden,
  int,
  onCreate,
  oneOf,
  optional,
  readableBy,
  readOnly,
  text,
  writableBy,
  writeOnly
} from '../../../data-service/entity/fields/words.js'
import { preset } from '../../../data-service/entity/preset.js'
import { CatalogueError, checkCatalogue } from '../../../data-service/entity/validation/validate.js'

type Action = (definition: object) => unknown

/** What is said of an entity file that got round its types. */
function mistakes(definition: object): string {
  const entity = defineEntity({
    name: 'things',
    description: '',
    fields: { id: readOnly(int()), name: text(5), ownerId: onCreate(int()), status: optional(readOnly(text(5))) },
    label: 'name',
    filterable: [],
    sortable: [],
    children: {
      parts: { table: 'parts', foreignKey: 'thingId', fields: { id: readOnly(int()), size: int() } },
      views: { table: 'views', foreignKey: 'thingId', store: 'second', fields: { id: readOnly(int()) } }
    },
    access: { read: everyone, write: ownRows('ownerId') },
    writes: ['create', 'update', 'delete'],
    ...definition
  } as unknown as Parameters<typeof defineEntity>[0])
  try {
    checkCatalogue([entity], { permissions: permissionsIn(roles), hasSecondStore: true })
    return ''
  } catch (error) {
    if (error instanceof CatalogueError) return error.mistakes.join('\n')
    throw error
  }
}

const change = (): object => ({})
const acting = (name: string, definition: object): object => ({
  actions: (action: Action) => ({ [name]: action({ description: 'Acts.', change, ...definition }) })
})
const phases = {
  fields: {
    id: readOnly(int()),
    name: text(5),
    ownerId: onCreate(int()),
    phase: optional(readOnly(oneOf(['open', 'closed'])))
  }
}
const partId = { input: { partId: int() } }
const part = { children: 'parts', id: 'partId', version: 'partRowVersion' }

describe('checkCatalogue of writes', () => {
  it('passes what is sound', () => {
    const pin = onCreate(writeOnly(text(4)))
    const content = { rowVersion: 'content', children: {}, fields: { ...phases.fields, pin } }
    expect(mistakes({ ...content, access: { read: everyone, write: ownRows('ownerId') } })).to.equal('')
    expect(mistakes({})).to.equal('')
    expect(mistakes(acting('resize', { ...partId, child: part, when: { status: ['a'] }, loads: ['parts'] }))).to.equal(
      ''
    )
    expect(mistakes({ writes: [], access: { read: everyone } })).to.equal('')
  })

  const cases: Record<string, [definition: object, mistake: RegExp]> = {
    'a write that is none': [{ writes: ['upsert'] }, /`upsert` is no write/],
    'children with a version of the content': [
      { rowVersion: 'content' },
      /rowVersion: 'content' does not cover the rows of `parts`.*\n.*does not cover the rows of `views`/
    ],
    'a write-only field with a version of the content': [
      { rowVersion: 'content', children: {}, fields: { ...phases.fields, pin: writeOnly(text(4)) } },
      /rowVersion: 'content' would tell who sets `pin` whether it had that value/
    ],
    'a write-only field beside a key of the caller, with a version of the content': [
      {
        rowVersion: 'content',
        children: {},
        fields: { ...phases.fields, id: onCreate(text(4)), pin: onCreate(writeOnly(text(4))) }
      },
      /rowVersion: 'content' would tell who makes a row again under its key whether `pin` had that value/
    ],
    'a word that is none of row versions': [{ rowVersion: 'some' }, /`rowVersion` is 'none' or 'content'/],
    'children with a version of the content of their own': [
      { children: { parts: { table: 'parts', foreignKey: 'thingId', rowVersion: 'content', fields: phases.fields } } },
      /children `parts`: `rowVersion` is 'none' where it is said/
    ],
    'deletes without a delete': [
      { writes: ['create'], deletes: { when: { status: ['a'] } } },
      /deletes without `delete` among writes/
    ],
    'a rule of deletes without a delete': [
      { writes: ['create'], deletes: { rule: () => ({}) } },
      /deletes without `delete` among writes/
    ],
    'deletes in no state': [{ deletes: { when: { status: [] } } }, /deletes: `status` is required to be none/],
    'deletes in a state of another type': [
      { deletes: { when: { status: [1] } } },
      /deletes: `status` is string and never 1/
    ],
    'writes that nobody may do': [{ access: { read: everyone } }, /says nothing of its writes/],
    'actions that nobody may do': [
      { writes: [], access: { read: everyone }, ...acting('x', {}) },
      /says nothing of its writes/
    ],
    'writes for everyone': [{ access: { read: everyone, write: everyone } }, /is for callers with a token/],
    'an unknown permission': [
      { access: { read: everyone, write: permission('product:manage') } },
      /`product:manage` is given to no role.*Did you mean "products:manage"/
    ],
    'an owner that is no field': [{ access: { read: everyone, write: ownRows('nam') } }, /owner `nam` is not a field/],
    'an owner that a PUT can change': [
      { fields: { id: int(), name: text(5), ownerId: int(), status: text(1) } },
      /would give the row away/
    ],
    'an owner that nobody can name': [
      { fields: { id: int(), name: text(5), ownerId: readOnly(int()), status: text(1) } },
      /has to name one/
    ],
    'a column that nobody sets': [
      { fields: { id: int(), name: text(5), ownerId: onCreate(int()), status: readOnly(text(5)) } },
      /`status` is set by no request/
    ],
    'a hidden column that nobody sets': [
      { fields: { id: int(), name: text(5), ownerId: onCreate(int()), risk: hidden(text(5)) } },
      /`risk` is set by no request/
    ],
    'a creation without create': [{ writes: ['delete'], creates: { prepare: change } }, /creates without `create`/],
    'a rule without update': [{ writes: ['create'], updates: change }, /updates without `update`/],
    'created children that are none': [
      { creates: { children: { prats: { min: 1 } } } },
      /`prats` is not a child collection. Did you mean "parts"/
    ],
    'created children of the second store': [{ creates: { children: { views: { min: 0 } } } }, /another store/],
    'a number of children that is none': [{ creates: { children: { parts: { min: 1.5 } } } }, /min from 0 to 1000/],
    'an action in camelCase': [acting('changePrice', {}), /`changePrice`: the name must be kebab-case/],
    'an action with a name that no trail can hold': [
      acting('a'.repeat(65), {}),
      /the name has more than 64 characters/
    ],
    'an action named as a read': [acting('paged', {}), /that of a read/],
    'an action with an unknown permission': [acting('x', { permission: 'things:manage' }), /`x`: permission/],
    'a state of a column that is none': [acting('x', { when: { stauts: ['a'] } }), /`stauts` is not a field/],
    'a state that is no word of the property': [
      { ...phases, ...acting('x', { when: { phase: ['ended'] } }) },
      /`phase` is enum and never "ended"/
    ],
    'a next state that is no word of the property': [
      { ...phases, ...acting('x', { becomes: { phase: 'ended' } }) },
      /`phase` is enum and never "ended"/
    ],
    'deletes in a state that is no word of the property': [
      { ...phases, deletes: { when: { phase: ['open', 'ended'] } } },
      /deletes: `phase` is enum and never "ended"/
    ],
    'a state of another type': [acting('x', { when: { status: [1] } }), /`status` is string and never 1/],
    'a next state of a column that is none': [acting('x', { becomes: { stauts: 'a' } }), /`stauts` is not a field/],
    'a next state of another type': [acting('x', { becomes: { status: 1 } }), /`status` is string and never 1/],
    'a next state that is none': [acting('x', { becomes: { status: [] } }), /none of anything/],
    'a state that is none': [acting('x', { when: { status: [] } }), /none of anything/],
    'an input that is no text': [acting('x', { input: { a: text(0) } }), /`a` needs a maximum length/],
    'an input in another case': [acting('x', { input: { a_b: int() } }), /`a_b` must be camelCase/],
    'a token for an input': [acting('x', { input: { rowVersion: text(9) } }), /`rowVersion`/],
    'a token of a child for an input': [
      acting('x', { input: { partRowVersion: text(9) } }),
      /`partRowVersion` would be a concurrency token/
    ],
    'an input that nobody can send': [acting('x', { input: { a: hidden(int()) } }), /no request could send/],
    'children to load that are none': [acting('x', { loads: ['prats'] }), /`prats` is not a child collection/],
    'children to load from the second store': [acting('x', { loads: ['views'] }), /cannot be put under lock/],
    'a child whose id is no input': [acting('x', { child: part }), /`partId` is no input/],
    'a child whose id has another type': [
      acting('x', { input: { partId: guid() }, child: part }),
      /`partId` is guid, but the id of `parts` is int/
    ],
    'a child whose id may be null': [
      acting('x', { input: { partId: optional(int()) }, child: part }),
      /`partId` may not be null/
    ],
    'guesses of what is no input': [
      acting('x', { ...partId, guesses: { of: 'code', most: 10, minutes: 15 } }),
      /guesses: `code` is no member of the body/
    ],
    'guesses without a sound bound': [
      acting('x', { ...partId, guesses: { of: 'partId', most: 0, minutes: 1.5 } }),
      /`most` must be 1 to 100[^]*`minutes` must be 1 to 1440/
    ],
    'guesses of what no create takes': [
      { creates: { guesses: { of: 'status', most: 1, minutes: 1 } } },
      /guesses: `status` is no member of the body/
    ],
    'a version that is called something else': [
      acting('x', { ...partId, child: { ...part, version: 'rowVersion' } }),
      /must be called `partRowVersion`/
    ]
  }
  for (const [what, [definition, mistake]] of Object.entries(cases)) {
    it(`reports ${what}`, () => expect(mistakes(definition)).to.match(mistake))
  }
})

describe('checkCatalogue of joined properties', () => {
  const entity = (definition: object): Entity =>
    defineEntity({
      description: '',
      label: 'id',
      filterable: [],
      sortable: [],
      ...definition
    } as unknown as Parameters<typeof defineEntity>[0])
  const write = permission('products:manage')
  const notes = (of: object): Entity =>
    entity({
      name: 'notes',
      fields: { id: readOnly(int()), ownerId: onCreate(int()), title: text(5), folderId: optional(int()) },
      references: { folder: { to: 'folders', via: 'folderId' } },
      ...('access' in of ? of : { access: of })
    })
  const folders = (access: object): Entity =>
    entity({ name: 'folders', fields: { id: readOnly(int()), title: text(5) }, access })
  const toNotes = {
    name: 'links',
    fields: { id: readOnly(int()), ownerId: onCreate(int()), noteId: optional(int()) },
    references: { note: { to: 'notes', via: 'noteId' } },
    joined: { noteTitle: { through: 'note', property: 'title', field: optional(text(5)) } },
    access: { read: ownRows('ownerId'), write: ownRows('ownerId') },
    writes: ['create']
  }
  const found = (links: object, target: object, further: object = { read: everyone }): string => {
    return mistakesOf([entity({ ...toNotes, ...links }), notes(target), folders(further)])
  }
  const mistakesOf = (all: readonly Entity[]): string => {
    try {
      checkCatalogue(all, { permissions: permissionsIn(roles), hasSecondStore: true })
      return ''
    } catch (error) {
      if (error instanceof CatalogueError) return error.mistakes.join('\n')
      throw error
    }
  }
  const toFolders = { title: { through: ['note', 'folder'], property: 'title', field: optional(text(5)) } }
  const unseen = { read: ownRows('ownerId') }
  const byRule = ({ rows }: { readonly rows: (rule: () => 'all') => object }): object => ({ read: rows(() => 'all') })
  const fields = (noteId: object): object => ({
    fields: { id: readOnly(int()), ownerId: onCreate(int()), noteId }
  })
  const attaching = {
    writes: [],
    ...fields(optional(readOnly(int()))),
    actions: (action: Action) => ({
      attach: action({ description: 'Attaches.', input: { noteId: int() }, effect: () => ({}) })
    })
  }
  const mistake = /links: joined `noteTitle` comes from `notes`, whose rows not every caller who sets `note` may read/

  const shown: Record<string, [links: object, target: object, further?: object]> = {
    'a create of rows of owners': [{}, unseen],
    'an update of rows that a rule lets callers read': [{ writes: ['update'] }, byRule],
    'a target for holders of a permission': [{}, { read: write }],
    'a target behind an owner filter': [{}, { read: everyone, ownerFilter: { property: 'ownerId', parameter: 'of' } }],
    'the input of an action': [attaching, unseen],
    'an action that gives a row to whom its caller names': [
      {
        ...fields(optional(readOnly(int()))),
        references: { note: { to: 'notes', via: 'ownerId' } },
        access: { read: everyone, write: ownRows('ownerId') },
        actions: (action: Action) => ({
          give: action({ description: 'Gives.', input: { ownerId: int() }, handsOver: true, change: () => ({}) })
        })
      },
      { read: ownRows('id') }
    ],
    'writes of rows that the list alone shows to callers without a permission': [
      { access: { read: everyone, reads: { get: write }, write: ownRows('ownerId'), writesUnseen: true } },
      { read: write }
    ],
    'a column that a create takes from the token': [
      fields(preset(optional(readOnly(int())), ({ caller }) => caller.owner)),
      { read: write }
    ],
    'a column with a default, which a caller without its permission leaves out': [
      fields(filledByDatabase(writableBy('products:manage', int()))),
      { read: write }
    ],
    'a key of several columns, of which one takes no permission to set': [
      {
        fields: {
          id: readOnly(int()),
          ownerId: onCreate(int()),
          noteId: optional(int()),
          part: optional(writableBy('products:manage', int()))
        },
        references: { note: { to: 'notes', via: ['noteId', 'part'] } }
      },
      {
        fields: { noteId: onCreate(int()), part: onCreate(int()), title: text(5) },
        key: ['noteId', 'part'],
        label: 'title',
        references: {},
        access: { read: write }
      }
    ]
  }
  for (const [what, [links, target, further]] of Object.entries(shown)) {
    it(`reports ${what}`, () => {
      expect(found(links, target, further)).to.match(mistake)
    })
  }

  it('reports a path with a step that a caller may be unable to read', () => {
    expect(found({ joined: toFolders }, { read: everyone }, { read: write })).to.match(/`title` comes from `folders`/)
    expect(found({ joined: toFolders }, unseen)).to.match(/`title` comes from `notes`/)
  })

  it('reports a further step whose reference other callers set than that of the first one', () => {
    const links = { joined: toFolders, access: { read: everyone, write } }
    const ofOthers = { writes: ['update'], access: { read: everyone, write: permission('coupons:manage') } }
    expect(found(links, ofOthers, { read: write })).to.match(
      /`title` comes from `folders`, whose rows not every caller who sets `folder` of `notes` may read/
    )
    expect(found(links, { ...ofOthers, access: { read: everyone, write } }, { read: write })).to.equal('')
    expect(found({ ...links, access: { read: write, write } }, ofOthers, { read: write })).to.equal('')
  })

  it('reports rows that actions of a root insert, where a caller may not read what the root refers to', () => {
    const lines = (access: object): string => {
      const own = entity({ ...toNotes, writes: [], joined: toFolders, access: { read: everyone } })
      const root = notes({
        fields: { id: readOnly(int()), folderId: readOnly(int()) },
        joined: {},
        children: { links: { entity: own, foreignKey: 'noteId', writtenBy: 'root' } },
        actions: (action: Action) => ({ add: action({ description: 'Adds one.', change: () => ({}) }) }),
        access
      })
      return mistakesOf([own, root, folders({ read: ownRows('id') })])
    }
    expect(lines({ read: everyone, write })).to.match(/`title` comes from `folders`/)
    expect(lines({ read: ownRows('folderId'), write })).to.equal('')
    expect(lines({ read: ownRows('folderId'), write, writesUnseen: true })).to.match(/`title` comes from `notes`/)
  })

  it('reports rows that a root creates for the owner in a column of its own that has the same name', () => {
    const links = entity({ ...toNotes, writes: [], access: { read: everyone } })
    const root = entity({
      name: 'albums',
      fields: { id: readOnly(int()), noteId: onCreate(int()) },
      children: { links: { entity: links, foreignKey: 'ownerId', writtenBy: 'root' } },
      access: { read: everyone, write: ownRows('noteId') },
      writes: ['create'],
      creates: { children: { links: { min: 0 } } }
    })
    expect(mistakesOf([links, root, notes({ read: ownRows('id') }), folders({ read: everyone })])).to.match(mistake)
  })

  for (const [what, written] of Object.entries({
    'writes with its own': { writes: ['create'], creates: { children: { links: { min: 0 } } } },
    'inserts by an action': {
      writes: [],
      actions: (action: Action) => ({
        add: action({
          description: 'Adds one.',
          input: { noteId: int() },
          change: () => ({ children: { links: { insert: [] } } })
        })
      })
    }
  })) {
    it(`reports rows that a root ${what}`, () => {
      const links = entity({ ...toNotes, writes: [], access: { read: write } })
      const root = entity({
        name: 'albums',
        fields: { id: readOnly(int()) },
        children: { links: { entity: links, foreignKey: 'ownerId', writtenBy: 'root' } },
        access: { read: everyone, write: permission('coupons:manage') },
        ...written
      })
      expect(() =>
        checkCatalogue([links, root, notes(unseen), folders({ read: everyone })], {
          permissions: permissionsIn(roles),
          hasSecondStore: true
        })
      ).to.throw(CatalogueError, mistake)
    })
  }

  const open: Record<string, [links: object, target: object]> = {
    'a target that everyone reads': [{}, { read: everyone }],
    'a target that one of two words opens': [{}, { read: anyOf(write, everyone) }],
    'a reference that no request sets': [fields(optional(readOnly(int()))), unseen],
    'an entity without writes': [{ writes: [], access: { read: everyone } }, unseen],
    'a target for holders of the permission to write': [
      { access: { read: everyone, write: allOf(write, ownRows('ownerId')) } },
      { read: write }
    ],
    'a target for readers of the row that is written': [
      { access: { read: write, write: ownRows('ownerId') } },
      { read: write }
    ],
    'a reference that takes the permission of its target to set': [
      fields(optional(writableBy('products:manage', int()))),
      { read: write }
    ],
    'a property that takes the permission of its target to read': [
      {
        joined: { noteTitle: { ...toNotes.joined.noteTitle, field: readableBy('products:manage', optional(text(5))) } }
      },
      { read: write }
    ],
    'a reference to the owner of the row': [
      {
        ...fields(optional(int())),
        references: { note: { to: 'notes', via: 'ownerId' } }
      },
      { read: ownRows('id') }
    ],
    'a property that says showsUnseen': [
      { joined: { noteTitle: { ...toNotes.joined.noteTitle, showsUnseen: true } } },
      unseen
    ]
  }
  for (const [what, [links, target]] of Object.entries(open)) {
    it(`passes ${what}`, () => {
      expect(found(links, target)).to.equal('')
    })
  }
})
