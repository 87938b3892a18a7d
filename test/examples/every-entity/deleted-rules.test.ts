import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { outputRoot, packageRoot } from '../../harness/package-root.js'
import { RULES } from './rules.js'
import { runEveryEntity } from './run-in-copy.js'

/** A way to take a rule out of an entity file, and the tests that have to notice. */
interface Deletion {
  readonly title: string
  readonly from: RegExp
  readonly to: string
  /** Titles below the entity's name. */
  readonly grep: string
  /** Files that it is tried on; all without it. */
  readonly only?: (text: string) => boolean
}

const ANYBODY = "{ kind: 'everyone' }"
const SOMEBODY = "{ kind: 'permission', permission: 'audit:read' }"

/** Start-up itself looks after collections that have an owner filter besides their scope. */
const filtersNoCollection = (text: string): boolean => !/ownerFilter: \{[^}]*parameter/.test(text)

/** The source of a pattern of what may stand between two brackets, brackets included. */
const WITHIN = (() => {
  let within = '[^()]*'
  for (let depth = 0; depth < 6; depth++) within = `(?:[^()]|\\(${within}\\))*`
  return within
})()

// A word that must be there for an entity to start at all is replaced by another.
const DELETIONS: readonly Deletion[] = [
  {
    title: 'the guard of its reads',
    from: new RegExp(`\\bread: (ownRows|permission|anyOf)\\(${WITHIN}\\)`),
    to: `read: ${ANYBODY}`,
    grep: 'export answers',
    only: filtersNoCollection
  },
  { title: 'reads that differ', from: /\breads: \{[^}]*\},/, to: '', grep: 'get answers' },
  {
    title: 'the owner filter',
    from: /,?\s*ownerFilter: \{(?:[^{}]|\{[^}]*\})*\}/,
    to: '',
    grep: '(list|get) answers|takes an owner'
  },
  {
    title: 'the guard of its writes',
    from: new RegExp(`\\bwrite: (ownRows|permission|anyOf)\\(${WITHIN}\\)`),
    to: `write: ${SOMEBODY}`,
    grep: '(delete|patch) is rejected',
    only: filtersNoCollection
  },
  {
    title: 'the predicate of its writes',
    from: new RegExp(`(\\bwrite: [^;]*?\\brows)\\(${WITHIN}\\)`),
    to: "$1(() => 'all')",
    grep: '(delete|adjust) is rejected'
  },
  {
    title: 'the permissions of its actions',
    from: /\bpermission: '[a-z-]+:[a-z]+',/g,
    to: '',
    grep: '[a-z-]+ is rejected'
  },
  {
    title: 'the states of its deletes',
    from: /\b(deletes: \{\s*)when: \{[^}]*\},?/,
    to: '$1',
    grep: 'delete needs the row'
  },
  { title: 'what hides its columns', from: /\bhidden\(/g, to: '(', grep: 'as it is listed' },
  {
    title: 'the permissions of its columns',
    from: /\breadableBy\('[a-z-]+:[a-z]+', /g,
    to: '(',
    grep: 'as it is listed|shows each caller'
  },
  { title: 'what search looks into', from: /\bsearchable: \[[^\]]*\],/, to: '', grep: 'searches' }
]

const PREDICATE_DELETION: Deletion = {
  title: 'the predicate of its reads',
  from: new RegExp(`\\bread: rows\\(${WITHIN}\\)`),
  to: "read: rows(() => 'all')",
  grep: '(list|paged|export|lookup|get) answers'
}

/**
 * The store has no read scope by a predicate: that of stock items is about permissions. adding-an-entity.test.ts runs this
 * file where an entity has one.
 */
const hasPredicate = Object.values(RULES).some(
  ({ read }) => typeof read === 'object' && 'rows' in read && read.rejects === undefined
)

function without({ from, to, only }: Deletion, text: string): string {
  return only?.(text) === false ? text : text.replace(from, to)
}

/** Whether a compiled file is needed to run, and not by the compiler or a debugger. */
function isRun(path: string): boolean {
  return !/\.(d\.ts|map|tsbuildinfo)$/.test(path)
}

describe('an entity file without', () => {
  const entityFiles = join(outputRoot, 'examples/store/entities')
  let copy = ''
  before(async () => {
    copy = await mkdtemp(join(tmpdir(), 'deleted-'))
    for (const part of ['cli', 'data-service', 'examples', 'gateway', 'schema', 'shared', 'test']) {
      await cp(join(outputRoot, part), join(copy, 'dist', part), { recursive: true, filter: isRun })
    }
    for (const part of ['package.json', 'proto', 'tools']) {
      await cp(join(packageRoot, part), join(copy, part), { recursive: true })
    }
    await symlink(join(packageRoot, 'node_modules'), join(copy, 'node_modules'))
  })
  after(() => rm(copy, { recursive: true, force: true }))

  for (const deletion of [...DELETIONS, ...(hasPredicate ? [PREDICATE_DELETION] : [])]) {
    it(`${deletion.title} is found out by the tests of every entity`, async () => {
      const changed = await weaken((text) => without(deletion, text))
      expect(changed).to.not.be.empty
      await expectNoticed(`\\b(${changed.join('|')}) (${deletion.grep})`, changed)
    })
  }

  it('the scope behind the owner filter of its collections does not start', async () => {
    const changed = await weaken((text) =>
      filtersNoCollection(text) ? text : text.replace(/\bread: ownRows\([^)]*\)/, `read: ${ANYBODY}`)
    )
    expect(changed).to.include.members(['bookmarks', 'shopping-carts'])
    const { passes, failures } = await runEveryEntity(copy, { database: 'sqlite', grep: 'bookmarks list' })
    expect(passes).to.deep.equal([])
    const said = failures.map(({ err }) => err.message).join()
    for (const name of changed) expect(said).to.match(new RegExp(`- ${name} \\([^ )]*\\.js\\): `))
  })

  /** Runs these tests of every entity: one of each entity has to fail. */
  async function expectNoticed(grep: string, names: readonly string[]): Promise<void> {
    const { failures } = await runEveryEntity(copy, { database: 'sqlite', grep })
    const titles = failures.map(({ fullTitle }) => fullTitle)
    const unstarted = failures.filter(({ fullTitle }) => fullTitle.includes('"before all" hook'))
    expect(unstarted.map(({ err }) => err.message)).to.deep.equal([])
    const unnoticed = names.filter((name) => !titles.some((one) => ` ${one} `.includes(` ${name} `)))
    expect(unnoticed, 'entities whose tests stay green').to.deep.equal([])
  }

  /**
   * Rewrites the entity files of the copy; the names of the entities that became different. An entity without a line in
   * rules.ts stays as it is: it is judged by its own file, so a rule that goes missing there goes missing in the judge.
   */
  async function weaken(change: (text: string) => string): Promise<string[]> {
    const changed: string[] = []
    for (const file of (await readdir(entityFiles)).filter((name) => name.endsWith('.js'))) {
      const text = await readFile(join(entityFiles, file), 'utf8')
      const name = /defineEntity\(\{\s*name: '([a-z-]+)'/.exec(text)?.[1]
      const weakened = name === undefined || !Object.hasOwn(RULES, name) ? text : change(text)
      await writeFile(join(copy, 'dist/examples/store/entities', file), weakened)
      if (name !== undefined && weakened !== text) changed.push(name)
    }
    return changed
  }
})
