import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'acorn'
import { simple } from 'acorn-walk'
import { expect } from 'chai'
import { analyse } from 'scslre'
import { packageRoot } from '../harness/package-root.js'

interface Found {
  readonly file: string
  readonly pattern: RegExp
}

/** Files of JavaScript under a folder: product code as compiled, since the compiler keeps patterns as they are. */
function scripts(folder: string): string[] {
  return readdirSync(join(packageRoot, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.m?js$/.test(name))
    .map((name) => `${folder}/${name}`)
    .toSorted()
}

function syntaxOf(file: string): ReturnType<typeof parse> {
  return parse(readFileSync(join(packageRoot, file), 'utf8'), { ecmaVersion: 'latest', sourceType: 'module' })
}

function patternsIn(file: string): Found[] {
  const found: Found[] = []
  simple(syntaxOf(file), {
    Literal: ({ regex }) => {
      if (regex) found.push({ file, pattern: new RegExp(regex.pattern, regex.flags) })
    }
  })
  return found
}

/** Files that put a pattern together while they run, which nobody can judge here. */
function makesPatterns(file: string): boolean {
  let makes = false
  const look = ({ callee }: { readonly callee: { readonly type: string; readonly name?: string } }): void => {
    if (callee.type === 'Identifier' && callee.name === 'RegExp') makes = true
  }
  simple(syntaxOf(file), { NewExpression: look, CallExpression: look })
  return makes
}

/** What takes more than linear time, and for which repeated character. */
function faultsOf({ source, flags }: RegExp): string[] {
  const { reports } = analyse({ source, flags })
  return reports.map(({ type, exponential, character }) => {
    const time = exponential ? 'exponential' : 'quadratic'
    return `${type}: ${time} for a row of ${JSON.stringify(character.pick)}`
  })
}

/**
 * A repetition beside or inside another one, or one that is tried again from every place, takes quadratic time or more
 * for the header of a stranger (contract.md section 2, time).
 */
describe('regular expressions', () => {
  const files = ['gateway', 'data-service', 'schema', 'shared', 'examples']
    .flatMap((folder) => scripts(`dist/${folder}`))
    .concat(scripts('tools'))

  it('take linear time, each of them', () => {
    const found = files.flatMap(patternsIn)
    expect(found.length, 'patterns found').to.be.greaterThan(100)
    const slow = found.flatMap(({ file, pattern }) =>
      faultsOf(pattern).map((fault) => `${file} ${pattern.toString()} ${fault}`)
    )
    expect(slow).to.deep.equal([])
  })

  it('are written out, so that they can be judged', () => {
    expect(files.filter(makesPatterns)).to.deep.equal([])
  })

  it('that take quadratic time are found by this test', () => {
    for (const pattern of [/^[\t ]*=[\t ]*(?:a)?[\t ]*$/, /(?:a+)+$/, /0+$/]) {
      expect(faultsOf(pattern), pattern.toString()).not.to.deep.equal([])
    }
    expect(faultsOf(/^[\t ]*a[\t ]*$/)).to.deep.equal([])
  })
})
