import { expect } from 'chai'
import { EVERYTHING, filesWithCode, PRODUCT, sourceFiles } from './source-files.js'

// Put together here, so that this file does not find itself.
const pattern = (...parts: readonly string[]): RegExp => new RegExp(parts.join(''))

describe('code rules', () => {
  const product = sourceFiles(...PRODUCT)
  const all = sourceFiles(...EVERYTHING)

  it('settings come from the environment to the modules that a process or a command is started with alone', () => {
    const readers = filesWithCode(product, pattern('process', '\\.env\\b'))
    const allowed = /^cli\/(main|processes\/processes)\.ts$/
    expect(readers.filter((path) => !allowed.test(path))).to.deep.equal([])
  })

  it('nothing depends on NODE_ENV', () => {
    const found = sourceFiles(...PRODUCT, 'bench').filter(({ text }) => pattern('NODE_', 'ENV').test(text))
    expect(found.map(({ path }) => path)).to.deep.equal([])
  })

  it('no type is any', () => {
    expect(filesWithCode(all, pattern('(:|<|\\bas|\\||,|=>)\\s*an', 'y\\b(?!\\()'))).to.deep.equal([])
  })

  it('no test is skipped or alone', () => {
    const marked = pattern(
      '\\b(it|describe|context|test|suite)\\.(on',
      'ly|sk',
      'ip)\\b|\\bx(it|describe)\\(|this\\.sk',
      'ip\\('
    )
    expect(filesWithCode(sourceFiles('test'), marked)).to.deep.equal([])
  })

  it('nothing waits to be written', () => {
    const found = all.filter(({ text }) => pattern('\\b(TO', 'DO|FIX', 'ME|XX', 'X)\\b').test(text))
    expect(found.map(({ path }) => path)).to.deep.equal([])
  })

  it('the compiler is never silenced, but by the tests of types', () => {
    const found = all.filter(({ text }) => pattern('@ts-(ign', 'ore|noch', 'eck)').test(text))
    expect(found.map(({ path }) => path)).to.deep.equal([])
    const expecting = all.filter(({ text }) => pattern('// @ts-exp', 'ect-error').test(text)).map(({ path }) => path)
    expect(expecting.filter((path) => !path.startsWith('test/types/'))).to.deep.equal([])
  })

  it('kinds of database are named by their own files and by the lists of engines alone', () => {
    const ownFiles =
      /^(?:data-service\/sql\/(?:engines(?:\/engine-name|\/(?:mysql|sqlite)\/[a-z0-9/-]+)?)|schema\/kinds\/(?:kinds|(?:mysql|sqlite)\/[a-z0-9/-]+))\.ts$/
    const kinds = /mysql|mariadb|sqlite|galera|wsrep/i
    const naming = product.filter(({ text }) => kinds.test(text.replace(/\/\*[\s\S]*?\*\/|(?<!:)\/\/[^\n]*/g, '')))
    // Files of the data folder by their endings, for the gateway too, which knows no database.
    const endings = 'shared/files.ts'
    // The optional package with which a new application begins.
    const beginning = 'cli/init.ts'
    const others = naming.map(({ path }) => path).filter((path) => !ownFiles.test(path))
    expect(others.toSorted()).to.deep.equal([beginning, endings])
    expect(naming.some(({ path }) => ownFiles.test(path))).to.equal(true)
  })
})
