import { expect } from 'chai'
import { entities } from '../../examples/store/entities/index.js'
import { roles } from '../../examples/store/roles.js'
import { PRODUCT, type SourceFile, sourceFiles } from './source-files.js'

/** Names of the store that stand in the engine all the same, each with why. */
const EXCEPTIONS: ReadonlyMap<string, string> = new Map([
  ['shared/errors.ts: customers:manage', 'an example of a permission, in a text of the contract'],
  ['data-service/entity/validation/validate-fields.ts: stock-items', 'an example of kebab-case, in a message'],
  ['data-service/typed-services/proto-text.ts: returns', 'a keyword of the proto language'],
  ...['entity/event', 'entity/validation/validate-hooks', 'outbox/webhook-settings'].map(
    (file) => [`data-service/${file}.ts: events`, 'a word of `webhook` in the contract'] as const
  )
])

/** Resources whose table the engine itself makes and fills; the store only shows them. */
const OF_THE_ENGINE: readonly string[] = ['audit-entries']

/** Entities, their tables and those of their children, as names in files, in TypeScript and in SQL; permissions. */
function namesOfTheStore(): readonly string[] {
  const own = entities.filter(({ name }) => !OF_THE_ENGINE.includes(name))
  const names = own.flatMap(({ name, table, children }) => [name, table, ...children.map((one) => one.table)])
  const camelCase = names.map((name) => name.replace(/[-_](\w)/g, (_all, letter: string) => letter.toUpperCase()))
  return [...new Set([...names, ...camelCase, ...Object.values(roles).flat()])]
}

/** `file: name` of each name that stands as a whole word in code or in a string; comments and imports may hold it. */
function found(files: readonly SourceFile[], names: readonly string[]): string[] {
  // Longest first: a permission is found as a whole.
  const longestFirst = names.toSorted((a, b) => b.length - a.length)
  const pattern = new RegExp(`(?<![\\w-])(?:${longestFirst.join('|')})(?![\\w-])`, 'g')
  return files.flatMap(({ path, text }) => {
    const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*|\bfrom '[^'\n]*'/g, '')
    return [...new Set(code.match(pattern))].map((name) => `${path}: ${name}`)
  })
}

describe('names of the store', () => {
  const names = namesOfTheStore()

  it('are those of its entities, tables and permissions', () => {
    expect(names).to.include.members(['stock-items', 'stock_items', 'stockItems', 'order_lines', 'orders:manage'])
    expect(names).to.not.include('audit_entries')
  })

  it('stand nowhere in the engine', () => {
    const elsewhere = found(sourceFiles(...PRODUCT), names)
    expect(elsewhere.filter((one) => !EXCEPTIONS.has(one))).to.deep.equal([])
    expect([...EXCEPTIONS.keys()].filter((one) => !elsewhere.includes(one))).to.deep.equal([])
  })

  it('are found in code and in strings, as whole words', () => {
    const text =
      "// coupons\nimport { orders } from './orders.js'\nconst a = 'SELECT 1 FROM `stock_items`'\nreordersX()\n"
    expect(found([{ path: 'a.ts', text }], names)).to.deep.equal(['a.ts: orders', 'a.ts: stock_items'])
  })
})
