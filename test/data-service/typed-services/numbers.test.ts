import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Property } from '../../../shared/gen/entity/v1/Property.js'
import type { Resource } from '../../../shared/gen/entity/v1/Resource.js'
import { EMPTY_LOCK, lockText, type ProtoLock } from '../../../data-service/typed-services/numbers.js'
import { makeTypedPackage, type TypedPackage } from '../../../data-service/typed-services/typed-package.js'
import { packageRoot } from '../../harness/package-root.js'

const text = (name: string): Property => ({ name, type: 'string', sortable: true })
const id: Property = { name: 'id', type: 'int' }
const state = (...words: string[]): Property => ({ name: 'state', type: 'enum', words })

function boxes(...properties: Property[]): Resource {
  return { name: 'boxes', description: 'Boxes.', operations: ['create'], properties: [id, ...properties] }
}

function made(resources: readonly Resource[], lock: ProtoLock = EMPTY_LOCK): TypedPackage {
  return makeTypedPackage({ resources, operations: [] }, { package: 'depot.v1', lock })
}

/** The fields of a message or the values of an enum with their numbers, and what is reserved, as the proto says them. */
function declared(typed: TypedPackage, type: string): string[] {
  const body = new RegExp(`^ *(?:message|enum) ${type} \\{\\n([\\s\\S]*?)^ *\\}`, 'm').exec(typed.text())?.[1] ?? ''
  return body
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => /^reserved |= \d+;$/.test(line))
}

describe('numbers of typed services', () => {
  const first = made([boxes(text('name'), text('colour'), text('note'))])
  const BEFORE = [
    'optional int32 id = 1;',
    'optional string name = 2;',
    'optional string colour = 3;',
    'optional string note = 4;'
  ]

  it('begin at 1 in the order of the entity', () => {
    expect(declared(first, 'Box')).to.deep.equal(BEFORE)
    expect(first.isLocked).to.equal(false)
  })

  it('are the same again from the lock, however properties are ordered', () => {
    const again = made([boxes(text('note'), text('colour'), text('name'))], first.lock())
    expect(declared(again, 'Box').toSorted()).to.deep.equal(BEFORE.toSorted())
    expect(again.isLocked).to.equal(true)
    // In the file the lock is the same as well.
    expect(lockText(JSON.parse(lockText(first.lock())) as ProtoLock)).to.equal(lockText(first.lock()))
  })

  it('of properties and words with a name that every object has are fresh as others', () => {
    const more = made([boxes(text('constructor'), text('name'), text('colour'), text('note'))], first.lock())
    expect(declared(more, 'Box')).to.have.members([...BEFORE, 'optional string constructor = 5;'])
    const words = made([boxes(state('open', 'valueOf'))], made([boxes(state('open'))]).lock())
    expect(declared(words, 'State')).to.include('STATE_VALUE_OF = 2;')
  })

  it('are given to no two fields of one name: those of a row and of the owner', () => {
    const owners = (name: string): Resource => ({ ...boxes(text('label')), name, ownerProperty: 'label' })
    expect(() => made([owners('owners')])).to.throw(
      'CreateOwnerRequest of the typed services has two fields called owner. Give the row of its resource another name'
    )
    const renamed = made([owners('owners')], { rows: { owners: 'Holder' }, types: {} })
    expect(declared(renamed, 'CreateHolderRequest')).to.include('Holder holder = 1;')
  })

  it('of new properties are fresh, wherever they stand', () => {
    const more = made([boxes(text('code'), text('name'), text('colour'), text('note'))], first.lock())
    expect(declared(more, 'Box')).to.have.members([...BEFORE, 'optional string code = 5;'])
    expect(declared(more, 'BoxSortProperty')).to.include('BOX_SORT_PROPERTY_CODE = 4;')
  })

  it('of removed properties are reserved for ever, and a property that comes back is a new one', () => {
    const less = made([boxes(text('name'), text('note'))], first.lock())
    const GONE = ['reserved 3;', 'reserved "colour";']
    expect(declared(less, 'Box')).to.deep.equal([...GONE, ...BEFORE.filter((line) => !line.includes('colour'))])
    const back = made([boxes(text('name'), text('colour'), text('note'))], less.lock())
    expect(declared(back, 'Box')).to.deep.equal([
      ...GONE,
      'optional int32 id = 1;',
      'optional string name = 2;',
      'optional string colour_5 = 5;',
      'optional string note = 4;'
    ])
    const later = made([boxes(text('name'), text('colour'), text('note'))], back.lock())
    expect([later.text(), later.isLocked]).to.deep.equal([back.text(), true])
  })

  it('of a renamed property are those of one that is removed and one that is new', () => {
    const renamed = made([boxes(text('title'), text('colour'), text('note'))], first.lock())
    expect(declared(renamed, 'Box')).to.deep.equal([
      'reserved 2;',
      'reserved "name";',
      'optional int32 id = 1;',
      'optional string title = 5;',
      'optional string colour = 3;',
      'optional string note = 4;'
    ])
  })

  it('of a property whose type changes are not used for the other type', () => {
    const changed = made([boxes(text('name'), { name: 'colour', type: 'long' }, text('note'))], first.lock())
    expect(declared(changed, 'Box')).to.include.members(['reserved 3;', 'optional int64 colour_5 = 5;'])
  })

  it('of words follow the same rules', () => {
    const two = made([boxes(state('open', 'shut'))])
    const three = made([boxes(state('lost', 'shut'))], two.lock())
    expect(declared(three, 'State')).to.deep.equal([
      'reserved 1;',
      'reserved "STATE_OPEN";',
      'STATE_UNSPECIFIED = 0;',
      'STATE_LOST = 3;',
      'STATE_SHUT = 2;'
    ])
  })

  it('of words that are no names in a proto stand for the word', () => {
    const odd = made([boxes(state('', 'a-b', 'a b', 'été', 'unspecified'))])
    expect(declared(odd, 'State')).to.deep.equal([
      'STATE_UNSPECIFIED = 0;',
      'STATE_VALUE_1 = 1;',
      'STATE_A_B = 2;',
      'STATE_A_B_3 = 3;',
      'STATE_VALUE_4 = 4;',
      'STATE_VALUE_5 = 5;'
    ])
  })

  it('of a resource that is gone wait for it', () => {
    const crates: Resource = { name: 'crates', description: 'Crates.', properties: [id, text('label')] }
    const both = made([boxes(text('name')), crates])
    const one = made([boxes(text('name'))], both.lock())
    const again = made([boxes(text('name')), crates], one.lock())
    expect(again.text()).to.equal(both.text())
  })

  it('never are those that protobuf keeps', () => {
    const lock: ProtoLock = {
      rows: {},
      types: { Box: { members: { name: { number: 18_999, type: 'string' } }, removed: [] } }
    }
    expect(declared(made([boxes(text('name'))], lock), 'Box')).to.deep.equal([
      'optional int32 id = 20000;',
      'optional string name = 18999;'
    ])
  })

  describe('before buf', () => {
    let folder = ''
    const buf = async (name: string, ...args: readonly string[]): Promise<string> => {
      const program = join(packageRoot, 'node_modules/@bufbuild/buf/bin/buf')
      const config = JSON.stringify({
        version: 'v2',
        lint: { use: ['STANDARD', 'COMMENTS'] },
        breaking: { use: ['WIRE_JSON'] }
      })
      const all = [program, ...args, '--config', config]
      return await new Promise<string>((resolve) => {
        execFile(process.execPath, all, { cwd: join(folder, name) }, (error, stdout, stderr) => {
          resolve(error === null ? '' : stdout + stderr)
        })
      })
    }
    const write = async (name: string, typed: TypedPackage): Promise<void> => {
      const file = join(folder, name, typed.path)
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, typed.text())
    }
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'typed-numbers-'))
      await write('first', first)
    })
    after(() => rm(folder, { recursive: true, force: true }))

    it('break nobody when properties are added, removed, renamed, retyped and reordered', async () => {
      const changed = boxes(state('x'), text('note'), { name: 'colour', type: 'bool' }, text('title'))
      await write('changed', made([changed], first.lock()))
      expect(await buf('changed', 'breaking', '--against', '../first')).to.equal('')
      expect(await buf('changed', 'lint')).to.equal('')
    })

    it('would break callers without the lock', async () => {
      await write('unlocked', made([boxes(text('note'), text('colour'), text('name'))]))
      const said = await buf('unlocked', 'breaking', '--against', '../first')
      expect(said).to.include('Field "2" on message "Box" changed name from "name" to "note"')
    })
  })
})
